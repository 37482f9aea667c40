/* test_ulp.c - ulp intervals by hand and against rational arithmetic, roundings and outward doubles against MPFR. */
#include "reference/engine/engine.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "kernels/hash.h"

Suite *suite_ulp(void);

static uint64_t draw_state = 0x9e3779b97f4a7c15u;

static uint64_t draw(void) { return attest_next64(&draw_state); }

static long draw_between(long lo, long hi) { return lo + (long)(draw() % (uint64_t)(hi - lo + 1)); }

/* (mantissa +- radius) * 2^exponent */
static void ball(arb_t t, int64_t mantissa, long exponent, unsigned radius, long radius_exponent)
{
    arb_set_si(t, mantissa);
    arb_mul_2exp_si(t, t, exponent);
    mag_set_ui_2exp_si(arb_radref(t), radius, radius_exponent);
}

/* ---- hand cases ---------------------------------------------------------------------------------------------- */

#define INF INFINITY
#define P25 ((1 << 25) - 1) /* times 2^103: the overflow threshold of f32 */

static const struct {
    const char *what;
    uint32_t dtype;
    int64_t mantissa;
    long exponent;
    unsigned radius;
    long radius_exponent;
    double got;
    int ftz;
    double lo, hi;
} cases[] = {
    { "next above 1", ATTEST_F32, 1, 0, 0, 0, 1 + 0x1p-23, 0, 1, 1 },
    { "next below 1 is half an ulp of 1", ATTEST_F32, 1, 0, 0, 0, 1 - 0x1p-24, 0, 0.5, 0.5 },
    { "exact", ATTEST_F32, -3, 0, 0, 0, -3, 0, 0, 0 },
    { "just below 2 has ulp 2^-23", ATTEST_F32, (1 << 25) - 1, -24, 0, 0, 2, 0, 0.5, 0.5 },
    { "subnormal t has the least ulp", ATTEST_F32, 3, -128, 0, 0, 0x1p-126, 0, 0x1p21, 0x1p21 },
    { "least normal t", ATTEST_F32, 3, -127, 0, 0, 0x1p-126, 0, 0x1p22, 0x1p22 },
    { "zero t", ATTEST_F32, 0, 0, 0, 0, 0x1p-149, 0, 1, 1 },
    { "zero t, one", ATTEST_F32, 0, 0, 0, 0, 1, 0, 0x1p149, 0x1p149 },
    { "zeros", ATTEST_F32, 0, 0, 0, 0, -0.0, 0, 0, 0 },
    { "half the least subnormal", ATTEST_F32, 1, -150, 0, 0, 0, 0, 0.5, 0.5 },
    { "sign flip", ATTEST_F32, 1, 0, 0, 0, -1, 0, 0x1p24, 0x1p24 },
    { "NaN", ATTEST_F32, 1, 0, 0, 0, NAN, 0, INF, INF },
    { "NaN for zero, ftz", ATTEST_F32, 0, 0, 0, 0, NAN, 1, INF, INF },
    { "zero without ftz", ATTEST_F32, 1, -130, 0, 0, 0, 0, 0x1p19, 0x1p19 },
    { "zero with ftz", ATTEST_F32, 1, -130, 0, 0, 0, 1, 0, 0 },
    { "zero of the other sign with ftz", ATTEST_F32, 1, -130, 0, 0, -0.0, 1, 0, 0 },
    { "ftz ends at 2^emin", ATTEST_F32, 1, -126, 0, 0, 0, 1, 0x1p23, 0x1p23 },
    { "ftz allows zeros only", ATTEST_F32, 1, -130, 0, 0, 0x1p-149, 1, 0x1p19 - 1, 0x1p19 - 1 },
    { "ftz undecided", ATTEST_F32, 1, -126, 1, -130, 0, 1, 0, 0x1p23 + 0x1p19 },
    { "Inf at the threshold", ATTEST_F32, P25, 103, 0, 0, INF, 0, 0, 0 },
    { "Inf far beyond", ATTEST_F32, 1, 5000, 0, 0, INF, 0, 0, 0 },
    { "-Inf at the threshold", ATTEST_F32, P25, 103, 0, 0, -INF, 0, INF, INF },
    { "-Inf at minus the threshold", ATTEST_F32, -P25, 103, 0, 0, -INF, 0, 0, 0 },
    { "Inf at minus the threshold", ATTEST_F32, -P25, 103, 0, 0, INF, 0, INF, INF },
    { "Inf below the threshold", ATTEST_F32, 2 * P25 - 1, 102, 0, 0, INF, 0, 0.75, 0.75 },
    { "Inf at the greatest", ATTEST_F32, (1 << 24) - 1, 104, 0, 0, INF, 0, 1, 1 },
    { "Inf for 1", ATTEST_F32, 1, 0, 0, 0, INF, 0, 0x1.fffffffffffffp150, 0x1p151 },
    { "-Inf for 1", ATTEST_F32, 1, 0, 0, 0, -INF, 0, 0x1p151, 0x1.0000000000001p151 },
    { "Inf for 0", ATTEST_F32, 0, 0, 0, 0, INF, 0, 0x1p277, 0x1p277 },
    { "finite beyond the threshold", ATTEST_F32, 1, 130, 0, 0, FLT_MAX, 0, 6291456.125, 6291456.125 },
    { "threshold undecided", ATTEST_F32, P25, 103, 1, 100, INF, 0, 0, 0.5625 },
    { "threshold undecided, wrong sign", ATTEST_F32, P25, 103, 1, 100, -INF, 0, 0x1p25 - 0.5625, INF },
    { "both thresholds", ATTEST_F32, 0, 0, 1, 200, INF, 0, 0, INF },
    { "across 1", ATTEST_F32, 1, 0, 1, -30, 1, 0, 0, 0x1p-6 },
    { "across 1, next", ATTEST_F32, 1, 0, 1, -30, 1 + 0x1p-23, 0, 1 - 0x1p-7, 2 + 0x1p-6 },
    { "across -1, next", ATTEST_F32, -1, 0, 1, -30, -1 - 0x1p-23, 0, 1 - 0x1p-7, 2 + 0x1p-6 },
    { "across 0", ATTEST_F32, 0, 0, 1, -149, 0, 0, 0, 1 },
    { "across 0, least", ATTEST_F32, 0, 0, 1, -149, 0x1p-149, 0, 0, 2 },
    { "from 1 to 7", ATTEST_F32, 4, 0, 3, 0, 8, 0, 0x1p21, 7 * 0x1p23 },
    { "bf16", ATTEST_BF16, 1, 0, 0, 0, 1.0078125, 0, 1, 1 },
    { "bf16 subnormal", ATTEST_BF16, 1, -134, 0, 0, 0x1p-133, 0, 0.5, 0.5 },
    { "f16 threshold", ATTEST_F16, 65520, 0, 0, 0, INF, 0, 0, 0 },
    { "f16 below the threshold", ATTEST_F16, 65519, 0, 0, 0, INF, 0, 0.53125, 0.53125 },
    { "f16 subnormal", ATTEST_F16, 1, -20, 0, 0, 0, 0, 16, 16 },
    { "f64 threshold", ATTEST_F64, (1l << 54) - 1, 970, 0, 0, INF, 0, 0, 0 },
    { "f64 greatest", ATTEST_F64, (1l << 53) - 1, 971, 0, 0, INF, 0, 1, 1 },
    { "f64 least", ATTEST_F64, 1, -1080, 0, 0, 0x1p-1074, 0, 1 - 0x1p-6, 1 - 0x1p-6 },
    { "f64 just more than 1", ATTEST_F64, -1, -200, 0, 0, 1, 0, 0x1p252, 0x1.0000000000001p252 },
    { "f64 too far for a double", ATTEST_F64, 0, 0, 0, 0, 1, 0, DBL_MAX, INF },
};

START_TEST(test_hand_cases)
{
    arb_t t;
    arb_init(t);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double lo, hi;
        ball(t, cases[k].mantissa, cases[k].exponent, cases[k].radius, cases[k].radius_exponent);
        const uint64_t got = attest_from_f64(cases[k].dtype, cases[k].got);
        ref_ulp_interval(&lo, &hi, t, got, cases[k].dtype, cases[k].ftz);
        ck_assert_msg(lo == cases[k].lo && hi == cases[k].hi, "%s: [%a, %a], expected [%a, %a]", cases[k].what, lo, hi,
                      cases[k].lo, cases[k].hi);
    }
    arb_clear(t);
}
END_TEST

START_TEST(test_infinite_truth)
{
    double lo, hi;
    arb_t t;
    arb_init(t);
    arb_neg_inf(t); /* lse of an empty row */
    ref_ulp_interval(&lo, &hi, t, attest_from_f64(ATTEST_F32, -INF), ATTEST_F32, 0);
    ck_assert_msg(lo == 0 && hi == 0, "-inf for -inf: [%a, %a]", lo, hi);
    ref_ulp_interval(&lo, &hi, t, attest_from_f64(ATTEST_F32, INF), ATTEST_F32, 0);
    ck_assert_msg(isinf(lo) && isinf(hi), "inf for -inf: [%a, %a]", lo, hi);
    ref_ulp_interval(&lo, &hi, t, attest_from_f64(ATTEST_F32, -FLT_MAX), ATTEST_F32, 0);
    ck_assert_msg(isinf(lo) && isinf(hi), "finite for -inf: [%a, %a]", lo, hi);
    arb_indeterminate(t);
    ref_ulp_interval(&lo, &hi, t, 0, ATTEST_F32, 0);
    ck_assert_msg(lo == 0 && isinf(hi), "unknown truth: [%a, %a]", lo, hi);
    arb_clear(t);
}
END_TEST

/* ---- random, against rationals ------------------------------------------------------------------------------- */

/* floor(log2 |t|) by comparing with powers of two. */
static long floor_log2(const mpq_t t)
{
    mpq_t x;
    mpq_init(x);
    mpq_abs(x, t);
    long e = 0;
    while (mpq_cmp_ui(x, 1, 1) < 0) {
        mpq_mul_2exp(x, x, 1);
        e--;
    }
    while (mpq_cmp_ui(x, 2, 1) >= 0) {
        mpq_div_2exp(x, x, 1);
        e++;
    }
    mpq_clear(x);
    return e;
}

static void ulps_of(mpq_t out, const mpq_t t, double got, uint32_t dtype)
{
    const attest_format f = attest_format_of(dtype);
    long e = f.emin;
    if (mpq_sgn(t) != 0 && floor_log2(t) > e)
        e = floor_log2(t);
    mpq_set_d(out, got);
    mpq_sub(out, out, t);
    mpq_abs(out, out);
    e -= f.p - 1;
    if (e >= 0)
        mpq_div_2exp(out, out, (mp_bitcnt_t)e);
    else
        mpq_mul_2exp(out, out, (mp_bitcnt_t)-e);
}

static int inside(double lo, double hi, const mpq_t x)
{
    int ok = 1;
    mpq_t end;
    mpq_init(end);
    mpq_set_d(end, lo);
    ok &= mpq_cmp(end, x) <= 0;
    if (!isinf(hi)) {
        mpq_set_d(end, hi);
        ok &= mpq_cmp(x, end) <= 0;
    }
    mpq_clear(end);
    return ok;
}

static double random_finite(uint32_t dtype, long near)
{
    const attest_format f = attest_format_of(dtype);
    const long e = near < f.emin - f.p ? f.emin - f.p : near > f.emax ? f.emax : near;
    const int64_t m = draw_between(-((1l << 53) - 1), (1l << 53) - 1);
    const double x = attest_to_f64(dtype, attest_round_scaled(dtype, m < 0, (uint64_t)llabs(m), (int)e - 52, 0));
    return isinf(x) ? 0 : x;
}

START_TEST(test_random_ulps)
{
    arb_t t;
    mpq_t q, exact, step;
    arb_init(t);
    mpq_inits(q, exact, step, NULL);
    for (int k = 0; k < 20000; k++) {
        const uint32_t dtype = (uint32_t)(k & 3);
        const attest_format f = attest_format_of(dtype);
        const long e = draw_between(f.emin - f.p - 3, k % 5 ? f.emin + 60 : f.emax);
        const int64_t m = draw_between(-(1l << 40), 1l << 40);
        const unsigned radius = k & 4 ? (unsigned)draw_between(0, 1 << 20) : 0;
        ball(t, m, e - 40, radius, e - 45);
        const double got = random_finite(dtype, e + draw_between(-2, 2));
        double lo, hi;
        ref_ulp_interval(&lo, &hi, t, attest_from_f64(dtype, got), dtype, 0);
        ck_assert_msg(lo <= hi, "[%a, %a]", lo, hi);
        for (int point = -2; point <= 2; point++) { /* (m + radius * point / 2 / 32) * 2^(e-40) */
            mpq_set_si(q, point * (long)radius, 64);
            mpq_canonicalize(q);
            mpq_set_si(step, m, 1);
            mpq_add(q, q, step);
            if (e - 40 >= 0)
                mpq_mul_2exp(q, q, (mp_bitcnt_t)(e - 40));
            else
                mpq_div_2exp(q, q, (mp_bitcnt_t)(40 - e));
            ulps_of(exact, q, got, dtype);
            ck_assert_msg(inside(lo, hi, exact), "case %d point %d: %s not in [%a, %a]", k, point,
                          mpq_get_str(NULL, 10, exact), lo, hi);
        }
        ck_assert_msg(radius || isinf(hi) || hi <= nextafter(lo, INF), "case %d: point, yet [%a, %a]", k, lo, hi);
    }
    mpq_clears(q, exact, step, NULL);
    arb_clear(t);
}
END_TEST

/* ---- roundings, against MPFR --------------------------------------------------------------------------------- */

static uint64_t rounded_by_mpfr(const mpq_t t, uint32_t dtype)
{
    const attest_format f = attest_format_of(dtype);
    const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
    mpfr_t x;
    mpfr_init2(x, f.p);
    mpfr_set_emin(f.emin - f.p + 2); /* MPFR's significands are in [1/2,1) */
    mpfr_set_emax(f.emax + 1);
    int ternary = mpfr_set_q(x, t, MPFR_RNDN);
    ternary = mpfr_check_range(x, ternary, MPFR_RNDN);
    mpfr_subnormalize(x, ternary, MPFR_RNDN);
    const double d = mpfr_get_d(x, MPFR_RNDN); /* exact */
    mpfr_set_emin(emin);
    mpfr_set_emax(emax);
    mpfr_clear(x);
    return attest_from_f64(dtype, mpq_sgn(t) < 0 && d == 0 ? -0.0 : d);
}

/* A rational of one of four kinds: any, a number of the format or a tie, beside a tie, near overflow. */
static void random_rational(mpq_t t, uint32_t dtype, int kind)
{
    const attest_format f = attest_format_of(dtype);
    const long m = draw_between(1, (1l << (f.p + 1)) - 1);
    long e = kind == 3 ? f.emax - f.p : draw_between(f.emin - f.p - 2, draw() & 1 ? f.emin - f.p + 8 : f.emax - f.p);
    mpq_t beside;
    mpq_init(beside);
    mpq_set_si(t, kind == 3 ? (1l << (f.p + 1)) - draw_between(1, 3) : m, 1);
    if (kind == 0) {
        mpq_set_si(t, m, (unsigned long)draw_between(1, 1 << 30));
        mpq_canonicalize(t);
        e += 30;
    }
    if (kind >= 2) {
        mpq_set_si(beside, draw_between(-1, 1), (unsigned long)draw_between(1, 9) << draw_between(0, 60));
        mpq_canonicalize(beside);
        mpq_div_2exp(beside, beside, (mp_bitcnt_t)draw_between(0, 300));
        mpq_add(t, t, beside);
    }
    if (e >= 0)
        mpq_mul_2exp(t, t, (mp_bitcnt_t)e);
    else
        mpq_div_2exp(t, t, (mp_bitcnt_t)-e);
    if (draw() & 1)
        mpq_neg(t, t);
    mpq_clear(beside);
}

START_TEST(test_round_rational)
{
    mpq_t t;
    fmpq_t tf;
    arb_t x;
    mpq_init(t);
    fmpq_init(tf);
    arb_init(x);
    for (int k = 0; k < 40000; k++) {
        const uint32_t dtype = (uint32_t)(k & 3);
        random_rational(t, dtype, k >> 2 & 3);
        const uint64_t expected = rounded_by_mpfr(t, dtype), got = ref_round_rational(t, dtype);
        ck_assert_msg(got == expected, "%s to %u: %llx, MPFR %llx", mpq_get_str(NULL, 10, t), dtype,
                      (unsigned long long)got, (unsigned long long)expected);
        /* A ball around it, exact where t is dyadic, decides the same or nothing. */
        uint64_t bits;
        fmpq_set_mpq(tf, t);
        arb_set_fmpq(x, tf, 2000);
        const int point = arb_is_exact(x);
        const int decided = ref_round_ball(&bits, x, dtype);
        ck_assert_msg(decided ? bits == expected : !point, "%s to %u: ball %d %llx, MPFR %llx",
                      mpq_get_str(NULL, 10, t), dtype, decided, (unsigned long long)bits, (unsigned long long)expected);
        const int far_from_tie = !((k >> 2) & 3);
        ck_assert_msg(decided || !far_from_tie, "%s to %u: open at 2000 bits", mpq_get_str(NULL, 10, t), dtype);
    }
    mpq_set_ui(t, 0, 1);
    ck_assert_uint_eq(ref_round_rational(t, ATTEST_F32), 0);
    arb_clear(x);
    fmpq_clear(tf);
    mpq_clear(t);
}
END_TEST

static const struct {
    const char *what;
    int64_t mantissa;
    long exponent;
    unsigned radius;
    long radius_exponent;
    int decided;
    double value; /* f32 */
} balls[] = {
    { "point", 3, 0, 0, 0, 1, 3 },
    { "tie, to even below", (1 << 24) + 1, 0, 0, 0, 1, 0x1p24 },
    { "tie, to even above", (1 << 24) + 3, 0, 0, 0, 1, 0x1p24 + 4 },
    { "across a tie", (1 << 24) + 1, 0, 1, -200, 0, 0 },
    { "a tie above, an integer below", 1 << 24, 0, 1, 0, 0, 0 },
    { "from a tie to a tie, both to it", (1 << 24) + 4, 0, 1, 0, 1, 0x1p24 + 4 },
    { "a little more", (1 << 24) + 4, 0, 1025, -10, 0, 0 },
    { "tiny positive", 3, -152, 1, -153, 1, 0 },
    { "tiny negative", -3, -152, 1, -153, 1, -0.0 },
    { "tiny of both signs", 0, 0, 1, -1000, 0, 0 },
    { "from zero up", 1, -1000, 1, -1000, 1, 0 },
    { "tie with the least subnormal", 1, -150, 0, 0, 1, 0 },
    { "above that tie", 5, -152, 0, 0, 1, 0x1p-149 },
    { "overflow", P25, 103, 0, 0, 1, INFINITY },
    { "no overflow", 2 * P25 - 1, 102, 0, 0, 1, FLT_MAX },
    { "overflow or not", P25, 103, 1, 0, 0, 0 },
    { "huge", -1, 100000, 1, 99990, 1, -INFINITY },
};

START_TEST(test_round_ball)
{
    arb_t t;
    arb_init(t);
    for (size_t k = 0; k < sizeof balls / sizeof balls[0]; k++) {
        uint64_t bits;
        ball(t, balls[k].mantissa, balls[k].exponent, balls[k].radius, balls[k].radius_exponent);
        const int decided = ref_round_ball(&bits, t, ATTEST_F32);
        const uint64_t expected = balls[k].decided ? attest_from_f64(ATTEST_F32, balls[k].value) : 0;
        ck_assert_msg(decided == balls[k].decided && bits == expected, "%s: decided %d, %llx, expected %llx",
                      balls[k].what, decided, (unsigned long long)bits, (unsigned long long)expected);
    }
    uint64_t bits;
    fmpz_t e;
    fmpz_init(e);
    fmpz_set_str(e, "-18446744073709551616", 10); /* -2^64: an exponent that no long holds */
    arb_one(t);
    arb_mul_2exp_fmpz(t, t, e);
    mag_set_ui_2exp_si(arb_radref(t), 0, 0);
    ck_assert_int_eq(ref_round_ball(&bits, t, ATTEST_F64), 1);
    ck_assert_uint_eq(bits, 0);
    fmpz_neg(e, e);
    arb_one(t);
    arb_mul_2exp_fmpz(t, t, e);
    mag_set_ui_2exp_si(arb_radref(t), 1, 0);
    ck_assert_int_eq(ref_round_ball(&bits, t, ATTEST_F64), 1);
    ck_assert_uint_eq(bits, attest_from_f64(ATTEST_F64, INFINITY));
    arb_indeterminate(t);
    ck_assert_int_eq(ref_round_ball(&bits, t, ATTEST_F64), 0);
    fmpz_clear(e);
    arb_clear(t);
}
END_TEST

START_TEST(test_outward_doubles)
{
    arb_t x;
    mpfr_t m;
    mag_t g;
    arb_init(x);
    mag_init(g);
    mpfr_init2(m, 200);
    for (int k = 0; k < 20000; k++) {
        const long e = k % 3 ? draw_between(-1150, -1000) : draw_between(-60, 1000);
        ball(x, (int64_t)draw() >> draw_between(0, 62), e, 0, 0);
        arf_get_mpfr(m, arb_midref(x), MPFR_RNDN); /* exact */
        const double lo = ref_lower(x), hi = ref_upper(x);
        ck_assert_msg(lo == mpfr_get_d(m, MPFR_RNDD) && hi == mpfr_get_d(m, MPFR_RNDU), "case %d: [%a, %a]", k, lo, hi);
        mag_set_ui_2exp_si(g, draw() >> 40, e);
        arf_set_mag(arb_midref(x), g);
        arf_get_mpfr(m, arb_midref(x), MPFR_RNDN);
        ck_assert_msg(ref_mag_upper(g) == mpfr_get_d(m, MPFR_RNDU), "case %d: %a", k, ref_mag_upper(g));
    }
    ball(x, 3, 0, 1, 0);
    ck_assert(ref_lower(x) == 2 && ref_upper(x) == 4);
    arb_indeterminate(x);
    ck_assert(ref_lower(x) == -INFINITY && ref_upper(x) == INFINITY);
    mag_inf(g);
    ck_assert(ref_mag_upper(g) == INFINITY);
    mpfr_clear(m);
    mag_clear(g);
    arb_clear(x);
}
END_TEST

Suite *suite_ulp(void)
{
    Suite *s = suite_create("ulp");
    TCase *t = tcase_create("ulp");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_hand_cases);
    tcase_add_test(t, test_infinite_truth);
    tcase_add_test(t, test_random_ulps);
    tcase_add_test(t, test_round_rational);
    tcase_add_test(t, test_round_ball);
    tcase_add_test(t, test_outward_doubles);
    suite_add_tcase(s, t);
    return s;
}

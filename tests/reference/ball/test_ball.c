/* test_ball.c - the ball engine against values known without it: one key, zero query, visible sets by brute
 * force, centers by hand, untouched invisible positions, and balls that shrink onto one number. */
#include "tests/reference/ball/ball_case.h"

#include <stdlib.h>

Suite *suite_ball(void);

/* ---- one key, zero query ----------------------------------------------------------------------------------------- */
START_TEST(one_key)
{
    static const char *const lines[] = { "n=3 m=1 d=4 e=5", "variant=taylor:3 n=3 m=1 d=4 e=5", "variant=based n=2 m=1",
                                         "variant=linear-elu n=3 m=1 d=4", "n=6 d=8 window=1 mask=causal" };
    for (size_t t = 0; t < sizeof lines / sizeof lines[0]; t++) {
        ball_case x;
        ball_case_start(&x, lines[t], 1);
        for (int64_t i = 0; i < x.c.problem.n; i++) {
            ball_case_row(&x, 0, 0, i, 128);
            ck_assert_msg(x.row.keys == 1 && !x.row.empty && !x.row.illposed, "%s row %d", lines[t], (int)i);
            for (int64_t c = 0; c < x.row.e; c++)
                ck_assert_msg(ball_is_double(x.row.o + c, ball_case_get(&x, ATTEST_V, 0, 0, x.row.first, c), 110),
                              "%s: o[%d,%d] is not v", lines[t], (int)i, (int)c);
            if (x.c.problem.axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_EXP)
                ck_assert_msg(ball_is(x.row.lse, x.row.s, 100), "%s: lse of one key is its score", lines[t]);
        }
        ball_case_stop(&x);
    }
}
END_TEST

START_TEST(zero_query)
{
    ball_case x;
    arb_t mean, v;
    arb_init(mean);
    arb_init(v);
    ball_case_start(&x, "n=2 m=7 d=4 e=3 family=flat", 1);
    ball_case_row(&x, 0, 0, 1, 128);
    for (int64_t c = 0; c < 3; c++) {
        arb_zero(mean);
        for (int64_t j = 0; j < 7; j++) {
            arb_set_d(v, ball_case_get(&x, ATTEST_V, 0, 0, j, c));
            arb_add(mean, mean, v, 256);
        }
        ck_assert_msg(arb_overlaps(x.row.u + c, mean) && arb_is_exact(x.row.u + c), "u is the sum of v");
        arb_div_ui(mean, mean, 7, 256);
        ck_assert_msg(ball_is(x.row.o + c, mean, 120), "o is the mean of v");
    }
    ck_assert_msg(arb_equal_si(x.row.z, 7), "z is the number of keys");
    arb_log_ui(mean, 7, 256);
    ck_assert_msg(ball_is(x.row.lse, mean, 120), "lse is ln 7");
    ball_case_stop(&x);
    arb_clear(mean);
    arb_clear(v);
}
END_TEST

/* ---- visible keys ------------------------------------------------------------------------------------------------ */
/* The formula of derivations.md, section 0, as printed. */
static int sees(const attest_problem *p, int64_t len, int64_t i, int64_t j)
{
    const uint32_t mask = p->axis[ATTEST_AXIS_MASK].value;
    const int64_t off = mask == ATTEST_MASK_CAUSAL_BR ? len - p->n : 0;
    int yes = j < len && (mask == ATTEST_MASK_FULL || j <= i + off);
    if (p->axis[ATTEST_AXIS_WINDOW].value == ATTEST_WINDOW_W) {
        const int64_t w = p->axis[ATTEST_AXIS_WINDOW].order;
        yes = yes && (mask == ATTEST_MASK_FULL ? (i > j ? i - j : j - i) < w : i + off - j < w);
    }
    return yes;
}

/* power:1 with scale 1 on integers: z = sum of q.k, u = sum of (q.k) v over the visible keys of the right head,
 * every number exact; power:0 counts keys. */
static void check_exact_row(ball_case *x, int64_t len, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &x->c.problem;
    const int64_t g = h / (p->hq / p->hkv);
    double z = 0, u[2] = { 0, 0 };
    for (int64_t j = 0; j < p->m; j++) {
        double s = 0;
        for (int64_t c = 0; c < p->d; c++)
            s += ball_case_get(x, ATTEST_Q, b, h, i, c) * ball_case_get(x, ATTEST_K, b, g, j, c);
        if (p->axis[ATTEST_AXIS_WEIGHT].order == 0)
            s = 1;
        if (!sees(p, len, i, j))
            continue;
        z += s;
        for (int64_t c = 0; c < p->e; c++)
            u[c] += s * ball_case_get(x, ATTEST_V, b, g, j, c);
    }
    ball_case_row(x, b, h, i, 64);
    ck_assert_msg(arb_is_exact(x->row.z) && ball_is_double(x->row.z, z, 60), "%s: z[%d,%d,%d] is not %g", x->line,
                  (int)b, (int)h, (int)i, z);
    for (int64_t c = 0; c < p->e; c++)
        ck_assert_msg(arb_is_exact(x->row.u + c) && ball_is_double(x->row.u + c, u[c], 60),
                      "%s: u[%d,%d,%d,%d] is not %g", x->line, (int)b, (int)h, (int)i, (int)c, u[c]);
}

START_TEST(visible_keys)
{
    static const char *const masks[] = { "full", "causal", "causal-br" };
    static const char *const sizes[] = { "n=5 m=7", "n=7 m=5", "n=4" };
    for (int t = 0; t < 3 * 3 * 2 * 3 * 2; t++) {
        char line[256];
        ball_case x;
        snprintf(line, sizeof line, "variant=linear weight=power:%d b=2 hq=4 hkv=2 d=3 e=2 scale=1 mask=%s %s%s%s",
                 t % 2, masks[t / 2 % 3], sizes[t / 6 % 3], t / 18 % 2 ? " lens=draw" : "",
                 t / 36 == 0   ? ""
                 : t / 36 == 1 ? " window=1"
                               : " window=3");
        ball_case_start(&x, line, 0);
        ball_case_integers(&x);
        for (int64_t b = 0; b < 2; b++) {
            int64_t len = x.c.problem.m;
            const attest_tensor *lens = attest_bundle_role(x.bundle, ATTEST_KV_LENS);
            if (lens) {
                len = b == 0 ? 0 : 3;
                attest_store_bits(lens, b, (uint64_t)len);
            }
            for (int64_t h = 0; h < 4; h++)
                for (int64_t i = 0; i < x.c.problem.n; i++)
                    check_exact_row(&x, len, b, h, i);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* More keys than one decoded block holds (2^20 values): d and e so wide that a block is 34 keys. */
START_TEST(several_blocks)
{
    static const char *const lines[] = { "variant=linear scale=1 n=90 mask=causal window=60 d=30000 e=1",
                                         "variant=linear scale=1 n=90 mask=causal window=60 d=1 e=30000" };
    for (int t = 0; t < 2; t++) {
        ball_case x;
        ball_case_start(&x, lines[t], 0);
        const int64_t d = x.c.problem.d, e = x.c.problem.e;
        double z = 0, u = 0;
        ball_case_put(&x, ATTEST_Q, 0, 0, 85, d - 1, 3);
        for (int64_t j = 0; j < 90; j++) {
            ball_case_put(&x, ATTEST_K, 0, 0, j, d - 1, (double)(j + 1));
            ball_case_put(&x, ATTEST_V, 0, 0, j, e - 1, (double)(j - 40));
            z += sees(&x.c.problem, 90, 85, j) ? 3.0 * (double)(j + 1) : 0;
            u += sees(&x.c.problem, 90, 85, j) ? 3.0 * (double)(j + 1) * (double)(j - 40) : 0;
        }
        ball_case_row(&x, 0, 0, 85, 128);
        ck_assert_int_eq(x.row.keys, 60);
        ck_assert_msg(ball_is_double(x.row.z, z, 120), "%s: z is not %g", lines[t], z);
        ck_assert_msg(ball_is_double(x.row.u + e - 1, u, 120), "%s: u is not %g", lines[t], u);
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- weights, centers, features, norms --------------------------------------------------------------------------- */
/* sum_{n<=P} x^n/n! term by term in rationals. */
static void taylor(mpq_t t, const mpq_t x, int order)
{
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(term, 1, 1);
    mpq_set_ui(t, 1, 1);
    for (int n = 1; n <= order; n++) {
        mpq_t divisor;
        mpq_init(divisor);
        mpq_set_ui(divisor, (unsigned long)n, 1);
        mpq_mul(term, term, x);
        mpq_div(term, term, divisor);
        mpq_add(t, t, term);
        mpq_clear(divisor);
    }
    mpq_clear(term);
}

static int ball_is_rational(const arb_t x, const mpq_t q, slong bits)
{
    fmpq_t f;
    arb_t y;
    fmpq_init(f);
    arb_init(y);
    fmpq_set_mpq(f, q);
    arb_set_fmpq(y, f, 1024);
    const int yes = ball_is(x, y, bits);
    fmpq_clear(f);
    arb_clear(y);
    return yes;
}

/* Scores are k = 1, -2, 4, 4: center max 4, min -2, mid 1; z = sum T_P(s-c), lse = c + ln z. */
START_TEST(centers)
{
    static const char *const names[] = { "zero", "max", "min", "mid" };
    static const int scores[] = { 1, 4, -2, 3 }, center[] = { 0, 4, -2, 1 };
    for (int t = 0; t < 4 * 6; t++) {
        char line[128];
        ball_case x;
        arb_t lse;
        mpq_t z, w, s;
        const int order = t / 4;
        snprintf(line, sizeof line, "variant=taylor:%d center=%s n=1 m=4 d=1 scale=1", order, names[t % 4]);
        ball_case_start(&x, line, 0);
        arb_init(lse);
        mpq_inits(z, w, s, NULL);
        ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 1);
        for (int64_t j = 0; j < 4; j++)
            ball_case_put(&x, ATTEST_K, 0, 0, j, 0, scores[j]);
        ball_case_row(&x, 0, 0, 0, 192);
        ck_assert_msg(ball_is_double(x.row.c, center[t % 4], 180), "%s: center", line);
        for (int64_t j = 0; j < 4; j++) {
            mpq_set_si(s, scores[j] - center[t % 4], 1);
            taylor(w, s, order);
            mpq_add(z, z, w);
            ck_assert_msg(ball_is_rational(x.row.w + j, w, 160), "%s: weight %d", line, (int)j);
            ck_assert_msg(ball_is_double(x.row.s + j, scores[j], 180), "%s: s[%d] is before the center", line, (int)j);
        }
        ck_assert_msg(ball_is_rational(x.row.z, z, 160), "%s: z", line);
        if (mpq_sgn(z) > 0) {
            arb_log(lse, x.row.z, 256);
            arb_add_si(lse, lse, center[t % 4], 256);
            ck_assert_msg(!x.row.lse_absent && ball_is(x.row.lse, lse, 150), "%s: lse", line);
        } else {
            ck_assert_msg(x.row.lse_absent || x.row.lse_open, "%s: z <= 0 has no lse", line);
        }
        mpq_clears(z, w, s, NULL);
        arb_clear(lse);
        ball_case_stop(&x);
    }
}
END_TEST

/* d = 1, q = -1, k = -2, 3, v = 1, 10: every value by hand. */
// clang-format off
static const struct { const char *line; int kind; } by_hand_lines[] = {
    { "variant=softmax n=1 m=2 d=1 scale=1", 0 },       { "variant=linear-elu n=1 m=2 d=1 scale=1", 1 },
    { "variant=linear-relu n=1 m=2 d=1 scale=1", 2 },   { "variant=softmax1 n=1 m=2 d=1 scale=1", 3 },
    { "variant=softmax eps=0.5 n=1 m=2 d=1 scale=1", 4 }, { "variant=term:3 n=1 m=2 d=1 scale=1", 5 },
    { "variant=quadratic n=1 m=2 d=1 scale=0.5", 6 },
};
// clang-format on

START_TEST(by_hand)
{
    ball_case x;
    arb_t a, b, want;
    arb_init(a);
    arb_init(b);
    arb_init(want);
    for (size_t t = 0; t < sizeof by_hand_lines / sizeof by_hand_lines[0]; t++) {
        const int kind = by_hand_lines[t].kind;
        ball_case_start(&x, by_hand_lines[t].line, 0);
        ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, -1);
        ball_case_put(&x, ATTEST_K, 0, 0, 0, 0, -2);
        ball_case_put(&x, ATTEST_K, 0, 0, 1, 0, 3);
        ball_case_put(&x, ATTEST_V, 0, 0, 0, 0, 1);
        ball_case_put(&x, ATTEST_V, 0, 0, 1, 0, 10);
        if (kind == 3)
            ball_case_put(&x, ATTEST_SINK, 0, 0, 0, 0, 1.5);
        ball_case_row(&x, 0, 0, 0, 192);
        arb_set_si(a, kind == 1 ? -3 : 2); /* e^-1 e^-2 */
        arb_set_si(b, kind == 1 ? -1 : -3);
        arb_exp(a, a, 256);
        arb_exp(b, b, 256);
        if (kind == 1)
            arb_mul_ui(b, b, 4, 256); /* e^-1 (3+1) */
        if (kind == 5) {              /* 2^3/6, -3^3/6 */
            arb_set_si(a, 8);
            arb_set_si(b, -27);
            arb_div_ui(a, a, 6, 256);
            arb_div_ui(b, b, 6, 256);
        }
        if (kind == 6) { /* 1, (-3/2)^2 */
            arb_set_d(a, 1);
            arb_set_d(b, 2.25);
        }
        if (kind == 2) { /* relu(-1) = 0: z = 0 */
            ck_assert_msg(x.row.illposed && arb_is_zero(x.row.z) && x.row.lse_absent, "%s", x.line);
        } else {
            arb_mul_ui(want, b, 10, 256);
            arb_add(want, want, a, 256);
            arb_add(a, a, b, 256);
            ck_assert_msg(ball_is(x.row.u, want, 180) && ball_is(x.row.z, a, 180), "%s: u, z", x.line);
            arb_set_d(b, kind == 3 ? 1.5 : 0);
            arb_exp(b, b, 256);
            if (kind == 4)
                arb_set_d(b, 0.5);
            if (kind == 3 || kind == 4)
                arb_add(a, a, b, 256);
            if (kind < 5)
                arb_div(want, want, a, 256);
            ck_assert_msg(ball_is(x.row.o, want, 180), "%s: o", x.line);
        }
        ball_case_stop(&x);
    }
    arb_clear(a);
    arb_clear(b);
    arb_clear(want);
}
END_TEST

/* mass = |scale| sum |phi(q) phi(k)|, an upper bound that is not loose. */
START_TEST(mass)
{
    ball_case x;
    ball_case_start(&x, "n=3 d=5 e=2 scale=-0.375", 1);
    ball_case_row(&x, 0, 0, 2, 128);
    for (int64_t j = 0; j < x.row.keys; j++) {
        arb_t sum, q, k;
        mag_t most;
        arb_init(sum);
        arb_init(q);
        arb_init(k);
        mag_init(most);
        for (int64_t c = 0; c < 5; c++) {
            arb_set_d(q, ball_case_get(&x, ATTEST_Q, 0, 0, 2, c));
            arb_set_d(k, ball_case_get(&x, ATTEST_K, 0, 0, j, c));
            arb_mul(q, q, k, 256);
            arb_abs(q, q);
            arb_add(sum, sum, q, 256);
        }
        arb_mul_ui(sum, sum, 3, 256);
        arb_mul_2exp_si(sum, sum, -3);
        arb_get_mag_lower(most, sum);
        ck_assert_msg(mag_cmp(x.row.mass + j, most) >= 0, "mass %d is below the sum", (int)j);
        mag_div_ui(most, most, 1000);
        arb_add_error_mag(sum, most);
        arb_get_mag(most, sum);
        ck_assert_msg(mag_cmp(x.row.mass + j, most) <= 0, "mass %d is loose", (int)j);
        arb_clear(sum);
        arb_clear(q);
        arb_clear(k);
        mag_clear(most);
    }
    ball_case_stop(&x);
}
END_TEST

/* ---- what is not read, what is not known ------------------------------------------------------------------------- */
START_TEST(invisible_positions)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    const double nan = attest_bits_f64(0x7ff8000000000000u), inf = attest_bits_f64(0x7ff0000000000000u);
    ball_case x, y;
    ball_case_start(&x, "n=6 hq=2 b=2 d=3 mask=causal window=2", 1);
    ball_case_start(&y, "n=6 hq=2 b=2 d=3 mask=causal window=2", 1);
    ball_case_row(&x, 1, 0, 3, 128);
    ck_assert(x.row.first == 2 && x.row.last == 4 && !x.row.no_truth);
    for (int t = 0; t < 3 * 2 * 2 * 6; t++) {
        const int64_t b = t / 36, h = t / 18 % 2, i = t / 3 % 6;
        const attest_role role = roles[t % 3];
        const int read = b == 1 && h == 0 && (role == ATTEST_Q ? i == 3 : i == 2 || i == 3);
        const double before = ball_case_get(&y, role, b, h, i, 1);
        ball_case_put(&y, role, b, h, i, 1, t % 2 ? nan : inf);
        ball_case_row(&y, 1, 0, 3, 128);
        ck_assert_msg(y.row.no_truth == read, "no_truth with poison in tensor %d at [%d,%d,%d]", (int)role, (int)b,
                      (int)h, (int)i);
        for (int64_t c = 0; c < 3 && !read; c++)
            ck_assert_msg(arb_equal(x.row.o + c, y.row.o + c) && arb_equal(x.row.lse, y.row.lse),
                          "an invisible value moved o");
        if (read)
            ball_case_put(&y, role, b, h, i, 1, before); /* invisible poison stays */
    }
    ball_case_stop(&x);
    ball_case_stop(&y);
}
END_TEST

START_TEST(empty_row)
{
    const double nan = attest_bits_f64(0x7ff8000000000000u);
    ball_case x;
    ball_case_start(&x, "variant=softmax1 n=2 m=3 d=2 lens=draw", 1);
    attest_store_bits(attest_bundle_role(x.bundle, ATTEST_KV_LENS), 0, 0);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, nan);
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert_msg(x.row.empty && !x.row.no_truth, "an empty row reads nothing");
    ck_assert_msg(arb_is_zero(x.row.o) && arb_is_zero(x.row.z), "o and z of an empty row are 0");
    ck_assert_msg(arf_is_neg_inf(arb_midref(x.row.lse)), "lse of an empty row is -inf");
    attest_store_bits(attest_bundle_role(x.bundle, ATTEST_KV_LENS), 0, 2);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 1);
    ball_case_put(&x, ATTEST_SINK, 0, 0, 0, 0, nan);
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert_msg(x.row.no_truth, "the sink is read");
    ball_case_stop(&x);
}
END_TEST

/* ---- enclosures -------------------------------------------------------------------------------------------------- */
static const char *const served_lines[] = {
    "n=9 d=4 hq=2 mask=causal",
    "variant=softmax1 n=5 m=8 d=3",
    "variant=taylor:5 n=6 center=mid d=4",
    "variant=shifted:1 n=6 d=4 in=bf16",
    "variant=elu-taylor:3 n=6 d=4 state=draw",
    "variant=linear-elu n=6 d=4",
    "variant=term:7 n=6 d=4 feature=elu1",
    "family=huge n=6 d=4",
    "family=negative n=8 d=4",
    "variant=based n=5 d=3 in=f64",
};

/* The row at 1024 bits lies inside the row at 128 bits and is 2^800 times narrower. */
static void check_nested(const char *line, const char *what, const arb_t wide, const arb_t narrow)
{
    mag_t scaled;
    mag_init(scaled);
    ck_assert_msg(arb_contains_arf(wide, arb_midref(narrow)), "%s: %s misses the value at 1024 bits", line, what);
    mag_mul_2exp_si(scaled, arb_radref(narrow), 800);
    ck_assert_msg(mag_cmp(scaled, arb_radref(wide)) <= 0, "%s: %s does not shrink", line, what);
    mag_clear(scaled);
}

START_TEST(enclosures)
{
    for (size_t t = 0; t < sizeof served_lines / sizeof served_lines[0]; t++) {
        ball_case x, y;
        ball_case_start(&x, served_lines[t], 1);
        ball_case_start(&y, served_lines[t], 1);
        for (int64_t i = 0; i < x.c.problem.n; i++) {
            ball_case_row(&x, 0, x.c.problem.hq - 1, i, 128);
            ball_case_row(&y, 0, x.c.problem.hq - 1, i, 1024);
            ck_assert(!x.row.illposed && !x.row.no_truth);
            check_nested(x.line, "z", x.row.z, y.row.z);
            for (int64_t c = 0; c < x.row.e; c++) {
                check_nested(x.line, "u", x.row.u + c, y.row.u + c);
                check_nested(x.line, "o", x.row.o + c, y.row.o + c);
            }
            if (!x.row.lse_absent)
                check_nested(x.line, "lse", x.row.lse, y.row.lse);
        }
        ball_case_stop(&x);
        ball_case_stop(&y);
    }
}
END_TEST

/* A value that no engine knows: each axis has one function a value, or a count of values worked out. */
START_TEST(unserved)
{
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++) {
        attest_problem p = { .struct_size = sizeof p, .axis_count = ATTEST_AXIS_COUNT };
        char why[160] = "";
        ck_assert_msg(ref_ball_serves(&p, why, sizeof why), "%s", why);
        p.axis[axis].value = attest_axes[axis].value_count;
        ck_assert_msg(!ref_ball_serves(&p, why, sizeof why), "%s: a new value is served", attest_axes[axis].key);
        ck_assert_msg(strstr(why, attest_axes[axis].key) && strstr(why, "not served by this version's reference"), "%s",
                      why);
        p.axis[axis].value = 1u << 20;
        ck_assert_msg(!ref_ball_serves(&p, NULL, 0), "%s: any value is served", attest_axes[axis].key);
    }
    attest_problem later = { .struct_size = sizeof later, .axis_count = ATTEST_AXIS_COUNT + 1 };
    char why[160] = "", number[32];
    ck_assert(ref_ball_serves(&later, why, sizeof why));
    later.axis[ATTEST_AXIS_COUNT].value = 1; /* an axis that this version does not have */
    snprintf(number, sizeof number, "axis number %d", ATTEST_AXIS_COUNT);
    ck_assert(!ref_ball_serves(&later, why, sizeof why) && strstr(why, number));
}
END_TEST

Suite *suite_ball(void)
{
    Suite *s = suite_create("ball");
    TCase *t = tcase_create("ball");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, one_key);
    tcase_add_test(t, zero_query);
    tcase_add_test(t, visible_keys);
    tcase_add_test(t, several_blocks);
    tcase_add_test(t, centers);
    tcase_add_test(t, by_hand);
    tcase_add_test(t, mass);
    tcase_add_test(t, invisible_positions);
    tcase_add_test(t, empty_row);
    tcase_add_test(t, enclosures);
    tcase_add_test(t, unserved);
    suite_add_tcase(s, t);
    return s;
}

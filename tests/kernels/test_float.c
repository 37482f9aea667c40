/* test_float.c - attest_float.h against C's own conversions, exact midpoints and every 16-bit pattern. */
#include "kernels/attest_float.h"
#include "tests/kernels/base_random.h"

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

Suite *suite_float(void);

static const uint32_t half_formats[2] = { ATTEST_F16, ATTEST_BF16 };

/* The value of a 16-bit pattern from its fields: exact, ldexp only scales by powers of two. */
static double field_value(uint32_t dtype, uint32_t bits)
{
    const int fraction_bits = dtype == ATTEST_F16 ? 10 : 7;
    const int bias = dtype == ATTEST_F16 ? 15 : 127;
    const int exponent = (int)((bits & 0x7fff) >> fraction_bits);
    const double fraction = (double)(bits & ((1u << fraction_bits) - 1u));
    const double one = exponent ? ldexp(1.0, fraction_bits) : 0.0;
    const double x = ldexp(one + fraction, (exponent ? exponent : 1) - bias - fraction_bits);
    return bits & 0x8000 ? -x : x;
}

static uint32_t infinity_bits(uint32_t dtype) { return dtype == ATTEST_F16 ? 0x7c00 : 0x7f80; }

START_TEST(every_half_pattern)
{
    for (int f = 0; f < 2; f++) {
        const uint32_t dtype = half_formats[f], top = infinity_bits(dtype);
        const uint32_t quiet = dtype == ATTEST_F16 ? 0x200 : 0x40;
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const double x = attest_to_f64(dtype, bits);
            const uint64_t back = attest_from_f64(dtype, x);
            const uint32_t magnitude = bits & 0x7fff;
            const int nan = magnitude > top;
            must(back == (nan ? bits | quiet : bits), "dtype %u bits %04x came back as %04llx", dtype, bits,
                 (unsigned long long)back);
            if (nan)
                must(isnan(x) && (signbit(x) != 0) == (bits >> 15), "dtype %u bits %04x: %a", dtype, bits, x);
            else if (magnitude == top)
                must(isinf(x) && (x < 0) == (bits >> 15), "dtype %u bits %04x: %a", dtype, bits, x);
            else
                must(attest_f64_bits(x) == attest_f64_bits(field_value(dtype, bits)), "dtype %u bits %04x: %a, not %a",
                     dtype, bits, x, field_value(dtype, bits));
            const float y = f ? attest_bf16_to_f32((uint16_t)bits) : attest_f16_to_f32((uint16_t)bits);
            must(nan ? isnan(y) : attest_f64_bits((double)y) == attest_f64_bits(x), "f32 of %04x: %a", bits, (double)y);
            const uint16_t narrowed = f ? attest_bf16_from_f32(y) : attest_f16_from_f32(y);
            must((uint64_t)narrowed == back, "f32 of %04x came back as %04x", bits, narrowed);
        }
    }
}
END_TEST

/* Nearest value by search: lower = the largest value <= |x| of the format; then x against the exact midpoint.
 * Values are in the order of their bits, and (a+b)/2 of neighbours is exact in double. */
static uint32_t nearest_half(uint32_t dtype, double x)
{
    const uint32_t top = infinity_bits(dtype), sign = signbit(x) ? 0x8000 : 0;
    const double size = fabs(x);
    uint32_t low = 0, high = top;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (field_value(dtype, middle) <= size)
            low = middle;
        else
            high = middle;
    }
    /* the bits of infinity, read as fields, are the next power of two */
    const double middle = (field_value(dtype, low) + field_value(dtype, low + 1)) / 2;
    return sign | (size < middle ? low : size > middle ? low + 1 : low + (low & 1u));
}

static void check_half(uint32_t dtype, double x)
{
    const uint64_t got = attest_from_f64(dtype, x);
    must(got == nearest_half(dtype, x), "dtype %u: %a gave %04llx, nearest is %04x", dtype, x, (unsigned long long)got,
         nearest_half(dtype, x));
}

START_TEST(half_nearest)
{
    uint64_t random = 1;
    for (int f = 0; f < 2; f++) {
        const uint32_t dtype = half_formats[f];
        for (uint32_t bits = 0; bits < infinity_bits(dtype); bits++) {
            const double middle = (field_value(dtype, bits) + field_value(dtype, bits + 1)) / 2;
            check_half(dtype, middle);
            check_half(dtype, -middle);
            check_half(dtype, nextafter(middle, 0.0));
            check_half(dtype, nextafter(middle, INFINITY));
        }
        for (int i = 0; i < 200000; i++) {
            const int low = dtype == ATTEST_F16 ? -28 : -140, high = dtype == ATTEST_F16 ? 18 : 130;
            const double m = (double)(random_word(&random) >> 11) * 0x1p-53;
            const double x = ldexp(m, low + (int)random_below(&random, (uint32_t)(high - low)));
            check_half(dtype, random_below(&random, 2) ? -x : x);
        }
        check_half(dtype, 0x1p-1074);
        check_half(dtype, 0x1p1023);
    }
}
END_TEST

static void check_single(double x)
{
    const uint64_t got = attest_from_f64(ATTEST_F32, x);
    const uint32_t want = attest_f32_bits((float)x);
    must(got == want, "f32 of %a gave %08llx, the cast %08x", x, (unsigned long long)got, want);
}

START_TEST(single_against_cast)
{
    uint64_t random = 2;
    for (int i = 0; i < 250000; i++) {
        const uint64_t word = random_word(&random);
        const double any = attest_bits_f64(word);
        if (!isnan(any))
            check_single(any);
        /* exponents -155 .. 130: subnormals, overflow */
        const double m = (double)(int64_t)random_word(&random);
        check_single(ldexp(m, (int)random_below(&random, 286) - 155 - 63));
        /* halfway cases: between a float and the next of its sign, and the doubles beside */
        const uint32_t bits = (uint32_t)random_word(&random) & (i % 2 ? 0xffffffffu : 0x80ffffffu);
        if ((bits & 0x7fffffff) < 0x7f7fffff) {
            const double a = (double)attest_bits_f32(bits), b = (double)attest_bits_f32(bits + 1);
            check_single((a + b) / 2);
            check_single(nextafter((a + b) / 2, -INFINITY));
            check_single(nextafter((a + b) / 2, INFINITY));
        }
        /* widening is exact */
        const float narrow = attest_bits_f32((uint32_t)(word >> 32));
        if (!isnan(narrow))
            must(attest_f64_bits(attest_to_f64(ATTEST_F32, word >> 32)) == attest_f64_bits((double)narrow), "f32 %08x",
                 (unsigned)(word >> 32));
    }
    const double limit = 0x1.ffffffp127; /* from here on: infinity */
    check_single(limit);
    check_single(nextafter(limit, 0.0));
    check_single(0x1p-150);
    check_single(nextafter(0x1p-150, 1.0));
    check_single(INFINITY);
    check_single(-INFINITY);
    check_single(-0.0);
    ck_assert_uint_eq(attest_from_f64(ATTEST_F32, attest_bits_f64(0xfff0000000000001ull)), 0xffc00000u);
    ck_assert_uint_eq(attest_f64_bits(attest_to_f64(ATTEST_F32, 0x7f800001u)), 0x7ff8000020000000ull);
}
END_TEST

/* A significand of 63 bits with a sticky bit is the one of 64 bits with a 1 appended; halfway then goes up. */
START_TEST(scaled_sticky)
{
    uint64_t random = 3;
    for (uint32_t dtype = 0; dtype < 4; dtype++) {
        const attest_format f = attest_format_of(dtype);
        for (int i = 0; i < 50000; i++) {
            uint64_t m = random_word(&random) >> 1 | 1ull << 62;
            if (i % 2) /* near halfway: a few set bits behind the p kept ones */
                m = (m & ~0ull << (63 - f.p)) | (random_below(&random, 3) ? 1ull << (62 - f.p) : 0u) |
                    random_below(&random, 3);
            const int e = f.emin - f.p - 2 - 62 + (int)random_below(&random, (uint32_t)(f.emax - f.emin + f.p + 4));
            const uint64_t sticky = attest_round_scaled(dtype, i & 1, m, e, 1);
            const uint64_t longer = attest_round_scaled(dtype, i & 1, m << 1 | 1u, e - 1, 0);
            must(sticky == longer, "dtype %u %llx*2^%d: sticky %llx, longer %llx", dtype, (unsigned long long)m, e,
                 (unsigned long long)sticky, (unsigned long long)longer);
        }
        const uint64_t one = (uint64_t)f.emax << (f.p - 1);
        const uint64_t halfway = 1ull << f.p | 1u; /* 1 + half an ulp, in units of 2^-p */
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, halfway, -f.p, 0), one);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, halfway, -f.p, 1), one + 1);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, 0, 1), one);
        ck_assert_uint_eq(attest_round_scaled(dtype, 1, 0, 5, 1), 1ull << (f.bits - 1));
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, f.emin - f.p, 0), 0);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, f.emin - f.p, 1), 1);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, f.emin - f.p - 1, 1), 0);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, -4000, 1), 0);
        ck_assert_uint_eq(attest_round_scaled(dtype, 0, 1, f.emax + 1, 0), one * 2 + (1ull << (f.p - 1)));
    }
}
END_TEST

/* Against C: (double) of an integer is one rounding, and so is multiplying it by 2^e into the subnormals when
 * the integer has at most 53 bits. */
START_TEST(scaled_against_cast)
{
    uint64_t random = 4;
    for (int i = 0; i < 200000; i++) {
        const uint64_t m = random_word(&random) >> random_below(&random, 63);
        const int e = (int)random_below(&random, 1800) - 900;
        const double wide = ldexp((double)m, e);
        const uint64_t got = attest_round_scaled(ATTEST_F64, 0, m, e, 0);
        must(got == attest_f64_bits(wide), "%llx*2^%d: %llx, not %a", (unsigned long long)m, e, (unsigned long long)got,
             wide);
        const uint64_t short_m = m >> 11;
        const int small = -1074 - (int)random_below(&random, 60);
        const double tiny = ldexp((double)short_m, small);
        must(attest_round_scaled(ATTEST_F64, 0, short_m, small, 0) == attest_f64_bits(tiny), "%llx*2^%d",
             (unsigned long long)short_m, small);
    }
}
END_TEST

/* Nothing depends on the rounding mode of the processor. */
START_TEST(rounding_modes)
{
    static const int modes[3] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    enum { COUNT = 2000 };
    static double x[COUNT];
    static uint64_t want[4][COUNT];
    uint64_t random = 5;
    for (int i = 0; i < COUNT; i++) {
        x[i] = ldexp((double)(int64_t)random_word(&random), (int)random_below(&random, 60) - 90);
        for (uint32_t dtype = 0; dtype < 4; dtype++)
            want[dtype][i] = attest_from_f64(dtype, x[i]);
    }
    for (int mode = 0; mode < 3; mode++) {
        int bad = 0;
        fesetround(modes[mode]);
        for (int i = 0; i < COUNT; i++)
            for (uint32_t dtype = 0; dtype < 4; dtype++)
                bad += attest_from_f64(dtype, x[i]) != want[dtype][i];
        fesetround(FE_TONEAREST);
        ck_assert_msg(bad == 0, "mode %d: %d conversions differ", modes[mode], bad);
    }
}
END_TEST

START_TEST(formats)
{
    for (uint32_t dtype = 0; dtype < 4; dtype++) {
        const attest_format f = attest_format_of(dtype);
        ck_assert_int_eq(f.bits, f.p + f.exponent_bits);
        ck_assert_int_eq(f.emax, (1 << (f.exponent_bits - 1)) - 1);
        ck_assert_int_eq(f.emin, 1 - f.emax);
        ck_assert(attest_unit_roundoff(dtype) == ldexp(1.0, -f.p));
        /* 1 + u is a tie and goes to 1; anything above it goes to 1 + 2u */
        const double u = attest_unit_roundoff(dtype);
        ck_assert(attest_to_f64(dtype, attest_from_f64(dtype, 1.0 + u)) == 1.0);
        if (dtype != ATTEST_F64)
            ck_assert(attest_to_f64(dtype, attest_from_f64(dtype, 1.0 + u + 0x1p-52)) == 1.0 + 2 * u);
    }
}
END_TEST

Suite *suite_float(void)
{
    Suite *suite = suite_create("float");
    TCase *tcase = tcase_create("conversions");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, formats);
    tcase_add_test(tcase, every_half_pattern);
    tcase_add_test(tcase, half_nearest);
    tcase_add_test(tcase, single_against_cast);
    tcase_add_test(tcase, scaled_sticky);
    tcase_add_test(tcase, scaled_against_cast);
    tcase_add_test(tcase, rounding_modes);
    suite_add_tcase(suite, tcase);
    return suite;
}

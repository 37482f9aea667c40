/* test_model.c - kernels/model: the tensor cores' rule against hardware's vectors and hand-made ones, without each of
 * its clauses, and eight lanes at a time; and the constant of lemma R-TENSOR against chains of it. */
#include "kernels/model/mma_exact.h"
#include "kernels/model/mma_lanes.h"
#include "mma_hand.h"
#include "mma_plain.h"
#include "tests/kernels/base_random.h"
#include "tests/vectors/mma_rows.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_model(void);

/* What tests/vectors has: rows of each, which the GPU gave. */
static const char *const published[] = { "v100_f16_f32", "v100_f16_f16",  "a100_bf16_f32", "a100_f16_f32",
                                         "a100_f16_f16", "a100_tf32_f32", "l40s_bf16_f32", "l40s_f16_f32",
                                         "l40s_f16_f16", "l40s_tf32_f32", "h200_bf16_f32", "h200_f16_f32",
                                         "h200_f16_f16", "h200_tf32_f32" };
enum { SETS = sizeof published / sizeof published[0], ROWS = 100 };

/* Calls body for every row of every set. */
static void each_row(void (*body)(const mma_set *set, const mma_row *row, int number, void *data), void *data)
{
    for (int n = 0; n < SETS; n++) {
        char path[64];
        mma_set set;
        mma_row row;
        int rows = 0, state;
        snprintf(path, sizeof path, "tests/vectors/mma_%s.txt", published[n]);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file && mma_set_read(file, &set), "%s: no set", path);
        while ((state = mma_row_read(file, &set, &row)) == 1)
            body(&set, &row, ++rows, data);
        fclose(file);
        ck_assert_msg(state == 0 && rows == ROWS, "%s: %d rows", path, rows);
    }
}

/* c + a b by eight lanes; all have the same b, but those beside `lane` are other numbers where `mixed`. */
static float by_lanes(const mma_rule *rule, float c, const float *a, const float *b, int count, int lane, int mixed)
{
    float left[32], right[32][MMA_LANES], d[MMA_LANES];
    int16_t of_left[32][MMA_LANES], of_right[32][MMA_LANES];
    for (int t = 0; t < count; t++) {
        mma_pack_left(rule, a[t], &left[t], of_left[t]);
        for (int n = 0; n < MMA_LANES; n++)
            mma_pack(rule, mixed && n != lane ? (float)(n + t) : b[t], &right[t][n], &of_right[t][n]);
    }
    for (int n = 0; n < MMA_LANES; n++)
        d[n] = mixed && n != lane ? (float)n : c;
    mma_lanes(rule, d, (mma_left){ left, of_left[0] }, (mma_right){ right[0], of_right[0], MMA_LANES }, count);
    return d[lane];
}

/* ---- vectors -------------------------------------------------------------------------------------------------- */

static void must_be_equal(const mma_set *set, const mma_row *row, int number, void *data)
{
    const mma_rule rule = mma_rule_of(set->core, set->input, set->output);
    const float d = mma_add(&rule, row->c, row->a, row->b, set->products);
    const float lanes = by_lanes(&rule, row->c, row->a, row->b, set->products, number % MMA_LANES, number & 8);
    const float plain = plain_add(&rule, PLAIN_WHOLE, row->c, row->a, row->b, set->products);
    (void)data;
    ck_assert_msg(mma_bits(d) == mma_bits(row->d) && mma_bits(lanes) == mma_bits(d) && mma_bits(plain) == mma_bits(d),
                  "%s %s %s, row %d: %a, lanes %a, plain %a, hardware %a", set->core->gpu, mma_input_name(set->input),
                  mma_output_name(set->output), number, (double)d, (double)lanes, (double)plain, (double)row->d);
}

START_TEST(hardware_vectors) { each_row(must_be_equal, NULL); }
END_TEST

static uint32_t hand_bits(const mma_hand *hand) { return hand->bits ? hand->bits : mma_bits(hand->d); }

START_TEST(vectors_by_hand)
{
    for (int n = 0; n < MMA_HANDS; n++) {
        const mma_hand *hand = &mma_hands[n];
        const mma_rule rule = mma_rule_of(mma_core_of(hand->gpu), hand->input, hand->output);
        const float d = mma_add(&rule, hand->c, hand->a, hand->b, MMA_K);
        const float lanes = by_lanes(&rule, hand->c, hand->a, hand->b, MMA_K, n % MMA_LANES, n & 8);
        const float plain = plain_add(&rule, PLAIN_WHOLE, hand->c, hand->a, hand->b, MMA_K);
        ck_assert_msg(mma_bits(d) == hand_bits(hand) && mma_bits(lanes) == mma_bits(d) &&
                          mma_bits(plain) == mma_bits(d),
                      "row %d: %a (%08x), lanes %a, plain %a, not %a", n, (double)d, mma_bits(d), (double)lanes,
                      (double)plain, (double)hand->d);
    }
}
END_TEST

static void count_failures(const mma_set *set, const mma_row *row, int number, void *data)
{
    const mma_rule rule = mma_rule_of(set->core, set->input, set->output);
    int *failures = data;
    (void)number;
    for (int k = 0; k < PLAIN_COUNT; k++)
        failures[k] += mma_bits(plain_add(&rule, (plain_without)k, row->c, row->a, row->b, set->products)) !=
                       mma_bits(row->d);
}

/* The rule without a clause is wrong: on hardware's vectors, where numbers near 1 can show it, else on those by hand.
 * */
START_TEST(each_clause_is_needed)
{
    int published_failures[PLAIN_COUNT] = { 0 };
    each_row(count_failures, published_failures);
    for (int k = 0; k < PLAIN_COUNT; k++) {
        int by_hand = 0;
        for (int n = 0; n < MMA_HANDS; n++) {
            const mma_hand *hand = &mma_hands[n];
            const mma_rule rule = mma_rule_of(mma_core_of(hand->gpu), hand->input, hand->output);
            by_hand += mma_bits(plain_add(&rule, (plain_without)k, hand->c, hand->a, hand->b, MMA_K)) !=
                       hand_bits(hand);
        }
        if (k == PLAIN_WHOLE)
            ck_assert(published_failures[k] == 0 && by_hand == 0);
        else if (k < PLAIN_RARE)
            ck_assert_msg(published_failures[k] > 0, "no published vector needs clause %d", k);
        else
            ck_assert_msg(by_hand > 0, "no vector by hand needs clause %d", k);
    }
}
END_TEST

/* ---- the table ------------------------------------------------------------------------------------------------ */

START_TEST(rules_of_the_table)
{
    static const struct {
        const char *gpu;
        int bf16, f16, tf32, fraction, floor_f32, floor_f16;
    } want[MMA_CORES] = { { "v100", 0, 4, 0, 23, -131, -19 },   { "a100", 8, 8, 4, 24, -132, -20 },
                          { "a2", 8, 8, 4, 24, -132, -20 },     { "ada", 8, 8, 4, 24, -132, -20 },
                          { "l40s", 8, 8, 4, 24, -132, -20 },   { "h100", 16, 16, 8, 25, -133, -21 },
                          { "h200", 16, 16, 8, 25, -133, -21 }, { "b200", 16, 16, 8, 25, -133, -21 } };
    for (int n = 0; n < MMA_CORES; n++) {
        const mma_core *core = mma_core_of(want[n].gpu);
        ck_assert_ptr_nonnull(core);
        const mma_rule f32 = mma_rule_of(core, MMA_F16, MMA_TO_F32), f16 = mma_rule_of(core, MMA_F16, MMA_TO_F16);
        ck_assert_int_eq(mma_rule_of(core, MMA_BF16, MMA_TO_F32).products, want[n].bf16);
        ck_assert_int_eq(f32.products, want[n].f16);
        ck_assert_int_eq(f16.products, want[n].f16);
        ck_assert_int_eq(mma_rule_of(core, MMA_TF32, MMA_TO_F32).products, want[n].tf32);
        ck_assert(f32.fraction == want[n].fraction && f32.floor == want[n].floor_f32 && f16.floor == want[n].floor_f16);
        ck_assert_int_eq(mma_rule_of(core, MMA_BF16, MMA_TO_F16).products, 0);
        ck_assert_int_eq(mma_rule_of(core, MMA_TF32, MMA_TO_F16).products, 0);
    }
    ck_assert_ptr_null(mma_core_of("h2000"));
}
END_TEST

/* ---- eight lanes ---------------------------------------------------------------------------------------------- */

/* A number of the type: any bits; near 1; far spread; an edge. */
static float drawn(uint64_t *stream, uint32_t dtype, uint32_t kind)
{
    static const uint32_t edges[] = { 0, 0x80000000u, 1, 0x007f0000, 0x7f7f0000, 0x7f800000, 0xff800000, 0x7fc00000 };
    uint32_t word = (uint32_t)random_word(stream);
    if (kind % 4 == 0)
        word = (word & 0x807fffffu) | (120 + (word >> 26)) << 23;
    else if (kind % 4 == 1)
        word = (word & 0x807fffffu) | ((kind & 4 ? 20 : 100) + word % 80) << 23;
    else if (kind % 4 == 2 && kind & 8)
        word = word % 5 ? word & 0x80ffffffu : edges[word >> 8 & 7];
    const float x = mma_float(word);
    return dtype == ATTEST_F32 ? x : (float)attest_to_f64(dtype, attest_from_f64(dtype, (double)x));
}

START_TEST(lanes_are_steps)
{
    uint64_t stream = 11;
    int fast = 0;
    for (int n = 0; n < 60000; n++) {
        const mma_input input = (mma_input)(n % 3);
        const mma_rule rule = mma_rule_of(&mma_cores[n / 3 % MMA_CORES], input, n % 7 < 2 ? MMA_TO_F16 : MMA_TO_F32);
        const uint32_t kind = (uint32_t)random_word(&stream) & 15;
        const uint32_t type = input == MMA_BF16 ? ATTEST_BF16 : input == MMA_F16 ? ATTEST_F16 : ATTEST_F32;
        const int count = 1 + (int)random_below(&stream, 24);
        float a[32], b[32];
        if (rule.products == 0)
            continue;
        for (int t = 0; t < count; t++) {
            a[t] = drawn(&stream, type, kind);
            b[t] = n % 4 == 0 && t % 3 == 0 ? 0 : drawn(&stream, type, kind);
        }
        const float c = n % 5 == 0 ? 0 : drawn(&stream, rule.to_f16 ? ATTEST_F16 : ATTEST_F32, kind);
        const float d = mma_add(&rule, c, a, b, count), lanes = by_lanes(&rule, c, a, b, count, n % MMA_LANES, n & 8);
        const float plain = plain_add(&rule, PLAIN_WHOLE, c, a, b, count);
        ck_assert_msg(mma_bits(d) == mma_bits(lanes) && mma_bits(d) == mma_bits(plain),
                      "%d, kind %u: %a, lanes %a, plain %a", n, kind, (double)d, (double)lanes, (double)plain);
        fast += isfinite(d) && d != 0;
    }
    ck_assert_int_gt(fast, 60000 / 4);
}
END_TEST

/* ---- R-TENSOR ------------------------------------------------------------------------------------------------- */

/* A chain of n products of bf16 numbers near 1; returns error/bound of the lemma. */
static double chain(const mma_rule *rule, uint64_t *stream, int64_t n, int one_sign)
{
    long double sum = 0, mass = 0;
    float c = 0;
    for (int64_t j = 0; j < n; j += rule->products) {
        float a[MMA_K], b[MMA_K];
        const int64_t count = n - j < rule->products ? n - j : rule->products;
        for (int64_t t = 0; t < count; t++) {
            const uint64_t bits = random_word(stream);
            a[t] = mma_float((uint32_t)(0x3c00 + bits % 0x800) << 16);
            b[t] = mma_float((uint32_t)(0x3c00 + (bits >> 20) % 0x800) << 16);
            if (!one_sign && bits >> 60 & 1)
                b[t] = -b[t];
            sum += (long double)a[t] * (long double)b[t];
            mass += fabsl((long double)a[t] * (long double)b[t]);
        }
        c = mma_add(rule, c, a, b, count);
    }
    ck_assert(!one_sign || (long double)c <= sum);
    return (double)fabsl((long double)c - sum) / (expm1(3 * (double)n * 0x1p-23) * (double)mass);
}

/* Chains of every length class: |error| <= ((1+2u)^(3n)-1) sum|terms|, and sums of one sign are never too large. */
START_TEST(chains_keep_the_lemma)
{
    for (int core = 0; core < MMA_CORES; core++) {
        const mma_input input = mma_cores[core].products[MMA_BF16] ? MMA_BF16 : MMA_F16;
        const mma_rule rule = mma_rule_of(&mma_cores[core], input, MMA_TO_F32);
        double worst = 0;
        for (uint64_t k = 0; k < 800; k++) {
            uint64_t stream = 7919 * k + 1;
            const int64_t n = 1 + (int64_t)random_below(&stream, 600);
            const double ratio = chain(&rule, &stream, n, k % 3 == 0);
            ck_assert_msg(ratio <= 1, "%s, chain %llu: %g", rule.products ? mma_cores[core].gpu : "",
                          (unsigned long long)k, ratio);
            worst = fmax(worst, ratio);
        }
        ck_assert_msg(worst > 0.05, "the lemma is never near: %g", worst);
    }
}
END_TEST

/* The lemma's term for subnormal factors: addends below the unit of the first one, whose exponent is that of
 * 2^-126 2^127 though it is 2^-6.  Without that term the bound would not hold. */
START_TEST(subnormal_factors_lose_more)
{
    for (int core = 0; core < MMA_CORES; core++) {
        const mma_input input = mma_cores[core].products[MMA_BF16] ? MMA_BF16 : MMA_F16;
        const mma_rule rule = mma_rule_of(&mma_cores[core], input, MMA_TO_F32);
        const float small = input == MMA_BF16 ? 0x1p-133f : 0x1p-24f, large = input == MMA_BF16 ? 0x1p127f : 0x1p15f;
        const double emin = ldexp(1, rule.least_in), unit = ldexp(emin * (double)large, -rule.fraction);
        float a[MMA_K] = { small }, b[MMA_K] = { large };
        double sum = (double)small * (double)large, mass = sum, factors = emin * (double)large + emin * (double)small;
        for (int t = 1; t < rule.products; t++) {
            a[t] = 1;
            b[t] = (float)(unit * 0.75);
            sum += (double)b[t];
            mass += (double)b[t];
        }
        const double error = sum - (double)mma_add(&rule, 0, a, b, rule.products);
        const double plain = expm1(3 * (double)rule.products * 0x1p-23) * mass;
        ck_assert_msg(error <= plain + 17 * 0x1p-23 * factors, "%s: %g", mma_cores[core].gpu, error);
        ck_assert_msg(error > plain, "%s: %g is not above %g", mma_cores[core].gpu, error, plain);
    }
}
END_TEST

/* ---- exact, then rounded once ---------------------------------------------------------------------------------- */
__extension__ typedef __int128 wide;

/* m 2^e, |m| < 2^bits, -15 <= e <= 15. */
static float piece(uint64_t *state, int bits)
{
    const int size = (int)random_below(state, 1u << random_below(state, (uint32_t)bits + 1));
    const int e = (int)random_below(state, 31) - 15;
    return ldexpf((float)(random_below(state, 2) ? -size : size), e);
}

/* x 2^40, an integer. */
static wide fixed(double x)
{
    int e;
    const double m = frexp(x, &e);
    const int64_t size = (int64_t)ldexp(m, 53);
    return e - 53 + 40 >= 0 ? (wide)size * ((wide)1 << (e - 13)) : (wide)(size / ((int64_t)1 << (13 - e)));
}

/* Sums in integers of 128 bits, which libgcc rounds once.  Half of them end in terms that cancel all but the last few,
 * or that lie far below a tie. */
START_TEST(exact_is_rounded_once)
{
    uint64_t state = 20;
    int ties = 0;
    for (int n = 0; n < 200000; n++) {
        float a[MMA_K], b[2 * MMA_K];
        float c = piece(&state, 24);
        for (int t = 0; t < MMA_K; t++) {
            const int again = t > 0 && n % 2 && random_below(&state, 2);
            a[t] = again ? -a[t - 1] : piece(&state, n % 3 ? 8 : 11);
            b[2 * t] = again ? b[2 * (t - 1)] : piece(&state, n % 3 ? 8 : 11);
            b[2 * t + 1] = INFINITY;
        }
        if (n % 4 == 0) { /* a number and half a last place, and 2^-30 beside it or not: 60 bits */
            c = ldexpf((float)(1 << 23 | (int)random_below(&state, 1 << 23)), 6);
            for (int t = 2; t < MMA_K; t++)
                a[t] = 0;
            a[0] = 4;
            b[0] = 8;
            a[1] = 0x1p-15f * (float)((int)random_below(&state, 3) - 1);
            b[2] = 0x1p-15f;
            ties++;
        }
        wide sum = fixed((double)c);
        for (int t = 0; t < MMA_K; t++)
            sum += fixed((double)a[t] * (double)b[2 * t]);
        const float want = ldexpf((float)sum, -40), got = mma_exact(c, a, b, 2, MMA_K);
        must(mma_bits(got) == mma_bits(want), "case %d: %a, not %a", n, (double)got, (double)want);
    }
    ck_assert_int_eq(ties, 50000);
}
END_TEST

START_TEST(exact_at_the_edges)
{
    const float least = 0x1p-133f, a[] = { INFINITY, 1, least, 0x1p100f, 0x1p100f, -0x1p127f };
    const float b[] = { 1, -INFINITY, least, 0x1p100f, -0x1p100f, 2 };
    ck_assert(mma_exact(1, a, b, 1, 1) == INFINITY);
    ck_assert_uint_eq(mma_bits(mma_exact(1, a, b, 1, 2)), 0x7fffffffu);
    ck_assert_uint_eq(mma_bits(mma_exact(NAN, a + 2, b + 2, 1, 1)), 0x7fffffffu);
    ck_assert(mma_exact(3, a + 3, b + 3, 1, 2) == 3);
    ck_assert_uint_eq(mma_bits(mma_exact(0, a + 3, b + 3, 1, 2)), 0);
    ck_assert(mma_exact(0, a + 3, b + 3, 1, 1) == INFINITY);
    ck_assert(mma_exact(0x1p127f, a + 5, b + 5, 1, 1) == -0x1p127f);
    ck_assert(mma_exact(0x1.000002p0f, a + 2, b + 2, 1, 1) == 0x1.000002p0f);
    const float half[] = { 0x1p-75f, least }, other[] = { 0x1p-75f, least };
    ck_assert(mma_exact(0, half, other, 1, 1) == 0);                 /* a tie of 0 and 2^-149 */
    ck_assert(mma_exact(0, half, other, 1, 2) == 0x1p-149f);         /* above it by 2^-266 */
    ck_assert(mma_exact(0x1p-149f, half, other, 1, 1) == 0x1p-148f); /* to even */
}
END_TEST

Suite *suite_model(void)
{
    Suite *suite = suite_create("model");
    TCase *all = tcase_create("mma");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, hardware_vectors);
    tcase_add_test(all, vectors_by_hand);
    tcase_add_test(all, each_clause_is_needed);
    tcase_add_test(all, rules_of_the_table);
    tcase_add_test(all, lanes_are_steps);
    tcase_add_test(all, chains_keep_the_lemma);
    tcase_add_test(all, subnormal_factors_lose_more);
    tcase_add_test(all, exact_is_rounded_once);
    tcase_add_test(all, exact_at_the_edges);
    suite_add_tcase(suite, all);
    return suite;
}

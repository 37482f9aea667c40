/* test_model.c - kernels/model: the tensor core's arithmetic against hardware's vectors and hand-made cases, and the
 * constant of lemma R-TENSOR against chains of it. */
#include "kernels/attest_float.h"
#include "kernels/model/mma.h"
#include "tests/kernels/base_random.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

Suite *suite_model(void);

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Reads `count` hex words; 0 at the end of the file. */
static int words(FILE *file, uint32_t *word, int count)
{
    for (int k = 0; k < count; k++)
        if (fscanf(file, "%x", &word[k]) != 1)
            return 0;
    return 1;
}

START_TEST(hardware_vectors)
{
    FILE *file = fopen("tests/vectors/mma_h200_bf16.txt", "r");
    char comment[256];
    uint32_t word[2 * MMA_K + 2];
    int rows = 0;
    ck_assert_ptr_nonnull(file);
    for (int line = 0; line < 4; line++)
        ck_assert_msg(fgets(comment, sizeof comment, file) && comment[0] == '#', "four lines of comment");
    for (; words(file, word, 2 * MMA_K + 2); rows++) {
        float a[MMA_K], b[MMA_K];
        for (int t = 0; t < MMA_K; t++) {
            a[t] = float_of(word[t] << 16);
            b[t] = float_of(word[MMA_K + t] << 16);
        }
        const float d = mma_add(float_of(word[2 * MMA_K]), a, b, MMA_K);
        ck_assert_msg(bits_of(d) == word[2 * MMA_K + 1], "row %d: %a, hardware %a", rows, (double)d,
                      (double)float_of(word[2 * MMA_K + 1]));
    }
    fclose(file);
    ck_assert_int_eq(rows, 250);
}
END_TEST

/* d of one product beside c. */
static float one(float c, float a, float b) { return mma_add(c, &a, &b, 1); }

START_TEST(cuts_by_hand)
{
    const float ones[4] = { 1, 1, 1, 1 }, small[4] = { 0x1p-26f, 0x1p-26f, 0x1p-26f, 0x1p-26f };
    const float twice[2] = { 1, 1 }, opposite[2] = { 0x1p10f, -0x1p10f };
    ck_assert(one(1, 0x1p-12f, 0x1p-12f) == 1);   /* 2^-24: seen, cut with the result */
    ck_assert(one(1, 0x1p-12f, 0x1.8p-12f) == 1); /* to nearest it would be 1 + 2^-23 */
    ck_assert(one(1, 0x1p-12f, 0x1p-11f) == 1 + 0x1p-23f);
    ck_assert(one(-1, 0x1p-12f, -0x1.8p-12f) == -1);        /* toward zero on either side */
    ck_assert(one(1, 0x1p-12f, -0x1p-13f) == 1 - 0x1p-24f); /* 1 - 2^-25 has 25 bits: toward zero */
    ck_assert(one(1, 0x1p-13f, -0x1p-13f) == 1);            /* 2^-26 is below what is kept beside 1 */
    ck_assert(mma_add(1, ones, small, 4) == 1);             /* each is below 2^-25 of the largest: gone */
    ck_assert(mma_add(0, twice, opposite, 2) == 0 && !signbit(mma_add(-0.0f, twice, opposite, 2)));
    ck_assert(one(0, 1.5f, 1.5f) == 2.25f);
    ck_assert(one(0x1p-149f, 0, 5) == 0x1p-149f && one(0, 0x1p-80f, 0x1p-69f) == 0x1p-149f);
    ck_assert(one(0, 0x1.8p-80f, 0x1p-70f) == 0);
    ck_assert(isinf(one(0, 0x1p100f, 0x1p100f)) && isnan(one(0, INFINITY, 0)) && one(INFINITY, 1, 1) == INFINITY);
    ck_assert(isnan(one(NAN, 1, 1)));
}
END_TEST

/* Chains of every length class: |error| <= ((1+2u)^(3n)-1) sum|terms|, and sums of one sign are never too large. */
START_TEST(chains_keep_the_lemma)
{
    double worst = 0;
    for (uint64_t k = 0; k < 3000; k++) {
        uint64_t state = 7919 * k + 1;
        const int64_t n = 1 + (int64_t)random_below(&state, 600);
        const int one_sign = k % 3 == 0;
        long double sum = 0, mass = 0;
        float c = 0;
        for (int64_t j = 0; j < n; j += MMA_K) {
            float a[MMA_K], b[MMA_K];
            const int64_t count = n - j < MMA_K ? n - j : MMA_K;
            for (int64_t t = 0; t < count; t++) {
                const uint64_t bits = random_word(&state);
                a[t] = float_of((uint32_t)(0x3c00 + bits % 0x800) << 16);
                b[t] = float_of((uint32_t)(0x3c00 + (bits >> 20) % 0x800) << 16);
                if (!one_sign && bits >> 60 & 1)
                    b[t] = -b[t];
                sum += (long double)a[t] * (long double)b[t];
                mass += fabsl((long double)a[t] * (long double)b[t]);
            }
            c = mma_add(c, a, b, count);
        }
        const double error = (double)fabsl((long double)c - sum), bound = expm1(3 * (double)n * 0x1p-23) * (double)mass;
        ck_assert_msg(error <= bound, "chain %llu: %g above %g", (unsigned long long)k, error, bound);
        ck_assert(!one_sign || (long double)c <= sum);
        worst = fmax(worst, error / bound);
    }
    ck_assert_msg(worst > 0.05, "the lemma is never near: %g", worst);
}
END_TEST

Suite *suite_model(void)
{
    Suite *suite = suite_create("model");
    TCase *all = tcase_create("mma");
    tcase_add_test(all, hardware_vectors);
    tcase_add_test(all, cuts_by_hand);
    tcase_add_test(all, chains_keep_the_lemma);
    suite_add_tcase(suite, all);
    return suite;
}

/* The frozen stream: published Philox answers, the addressing, the moments of the normal draw. */
#include <check.h>

#include "props/draw/rng.h"

Suite *suite_rng(void);

/* Random123's kat_vectors for philox4x32-10, spread over the fields that make counter and key. */
static const struct answer {
    uint64_t seed, index;
    uint32_t case_number, tensor, block, words[4];
} answers[] = {
    { 0, 0, 0, 0, 0, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { UINT64_MAX, UINT64_MAX, UINT32_MAX, 0xffff, 0xffff, { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { 0x299f31d0a4093822u,
      0x0370734413198a2eu,
      0x243f6a88,
      0x08d3,
      0x85a3,
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

START_TEST(known_answers)
{
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        const attest_stream stream = { answers[i].seed, answers[i].case_number, answers[i].tensor };
        uint32_t words[4];
        attest_draw_words(words, &stream, answers[i].block, answers[i].index);
        for (int w = 0; w < 4; w++)
            ck_assert_msg(words[w] == answers[i].words[w], "answer %zu word %d: %08x, not %08x", i, w, words[w],
                          answers[i].words[w]);
    }
}
END_TEST

START_TEST(index_fields)
{
    ck_assert_uint_eq(attest_draw_index(0, 0, 0, 0), 0);
    ck_assert_uint_eq(attest_draw_index(0, 0, 0, 65535), 0xffffu);
    ck_assert_uint_eq(attest_draw_index(0, 0, (1 << 24) - 1, 0), 0xffffff0000u);
    ck_assert_uint_eq(attest_draw_index(0, 4095, 0, 0), 0xfff0000000000u);
    ck_assert_uint_eq(attest_draw_index(4095, 0, 0, 0), 0xfff0000000000000u);
    ck_assert_uint_eq(attest_draw_index(1, 2, 3, 4), 0x0010020000030004u);
}
END_TEST

START_TEST(everything_counts)
{
    const attest_stream base = { 5, 0, 3 };
    const attest_stream others[] = { { 6, 0, 3 }, { 5 + (1ull << 32), 0, 3 }, { 5, 1, 3 }, { 5, 0, 4 } };
    const int64_t draw = attest_draw_normal(&base, 77);
    for (size_t i = 0; i < 4; i++)
        ck_assert_msg(attest_draw_normal(&others[i], 77) != draw, "stream %zu gives the same draw", i);
    ck_assert(attest_draw_normal(&base, 78) != draw);
    ck_assert(attest_draw_normal(&base, 77 + (1ull << 40)) != draw);
    ck_assert(attest_draw_normal(&base, 77) == draw);
}
END_TEST

/* The normal draw is the sum of blocks 0..2 and nothing else. */
START_TEST(normal_is_its_sum)
{
    const attest_stream stream = { 9, 1, 2 };
    for (uint64_t index = 0; index < 50; index++) {
        int64_t sum = 0;
        for (uint32_t block = 0; block < 3; block++) {
            uint32_t words[4];
            attest_draw_words(words, &stream, block, index);
            for (int w = 0; w < 4; w++)
                sum += words[w];
        }
        ck_assert_int_eq(attest_draw_normal(&stream, index), sum - 6 * 4294967295);
    }
}
END_TEST

/* n draws x 2^-32: mean 0, variance 1, third moment 0, fourth 2.9 (12 uniforms: 3 - 0.1), neighbours
 * uncorrelated; each within 5 standard deviations of its mean over n = 200000. */
START_TEST(moments)
{
    const attest_stream stream = { 2026, 0, 0 };
    const int n = 200000;
    double sum[5] = { 0 }, before = 0, lag = 0;
    for (int i = 0; i < n; i++) {
        const double x = (double)attest_draw_normal(&stream, (uint64_t)i) * 0x1p-32;
        ck_assert(x > -6 && x < 6);
        sum[1] += x;
        sum[2] += x * x;
        sum[3] += x * x * x;
        sum[4] += x * x * x * x;
        lag += x * before;
        before = x;
    }
    /* Standard deviations times sqrt(n): 1, sqrt(1.9), sqrt(m6) with m6 < 15, sqrt(m8 - m4^2) < sqrt(105), 1. */
    const double root = 447.2; /* sqrt(200000) */
    ck_assert_msg(sum[1] / n * root < 5 && sum[1] / n * root > -5, "mean %g", sum[1] / n);
    ck_assert_msg((sum[2] / n - 1) * root < 6.9 && (sum[2] / n - 1) * root > -6.9, "variance %g", sum[2] / n);
    ck_assert_msg(sum[3] / n * root < 19.4 && sum[3] / n * root > -19.4, "third moment %g", sum[3] / n);
    ck_assert_msg((sum[4] / n - 2.9) * root < 51.3 && (sum[4] / n - 2.9) * root > -51.3, "fourth %g", sum[4] / n);
    ck_assert_msg(lag / n * root < 5 && lag / n * root > -5, "lag product %g", lag / n);
}
END_TEST

Suite *suite_rng(void)
{
    Suite *suite = suite_create("rng");
    TCase *tcase = tcase_create("stream");
    tcase_add_test(tcase, known_answers);
    tcase_add_test(tcase, index_fields);
    tcase_add_test(tcase, everything_counts);
    tcase_add_test(tcase, normal_is_its_sum);
    tcase_add_test(tcase, moments);
    suite_add_tcase(suite, tcase);
    return suite;
}

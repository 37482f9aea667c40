/* test_dot.c - kernels/fast/dot.h: the cast to bf16 by hand, and beside VCVTNE2PS2BF16 itself where the CPU has it.
 * The products are those of model/dpbf16.h, which has a test of its own.
 */
#include "attest_float.h"
#include "fast/dot.h"
#include "tests/kernels/base_random.h"

#include <check.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

Suite *suite_dot(void);

enum { CASES = 1000000 };

START_TEST(test_cast_by_hand)
{
    static const struct {
        uint32_t from, to;
    } rows[] = {
        { 0x3f800000, 0x3f800000 }, { 0x3f808000, 0x3f800000 }, { 0x3f808001, 0x3f810000 }, /* a tie goes to even */
        { 0x3f818000, 0x3f820000 }, { 0x7f7fffff, 0x7f800000 }, { 0xff800000, 0xff800000 },
        { 0x7f800001, 0x7fc00000 }, { 0xffffffff, 0xffff0000 }, { 0x80000000, 0x80000000 },
        { 0x00000001, 0x00000000 }, { 0x807fffff, 0x80000000 }, /* 2^-126 if it were rounded */
        { 0x00800000, 0x00800000 }, { 0x80ffffff, 0x81000000 },
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const uint32_t got = attest_f32_bits(dot_bf16(vec_of(attest_bits_f32(rows[n].from)))[LANES - 1]);
        ck_assert_msg(got == rows[n].to, "%08x: %08x, not %08x", rows[n].from, got, rows[n].to);
    }
}
END_TEST

/* x[32] becomes pairs, in the shape of two floats a pair here. */
START_TEST(test_pairs)
{
    float x[PANEL], pair[DOT_PAIR];
    for (int j = 0; j < PANEL; j++)
        x[j] = 1.0f + (float)j * 0x1p-9f;
    dot_cast(x, 0, PANEL);
    for (int j = 0; j < PANEL; j += 2) {
        const uint32_t even = fast_bf16(1.0f + (float)j * 0x1p-9f), odd = fast_bf16(1.0f + (float)(j + 1) * 0x1p-9f);
        dot_put(pair, even | odd << 16);
        ck_assert_msg(memcmp(pair, x + j / 2 * DOT_PAIR, sizeof pair) == 0, "pair %d", j / 2);
    }
}
END_TEST

#if defined(__x86_64__)
/* The words that the instruction makes of x[32]: x[0] and x[1] first. */
__attribute__((target("avx512f,avx512bf16"), noinline)) static void instruction(uint16_t *to, const float *x)
{
    const __m512bh words = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + 16), _mm512_loadu_ps(x));
    memcpy(to, &words, sizeof words);
}

START_TEST(test_cast_instruction)
{
    uint64_t stream = 23;
    float x[32];
    uint16_t words[32];
    for (int n = 0; n < CASES && __builtin_cpu_supports("avx512bf16"); n += 32) {
        for (int j = 0; j < 32; j++) {
            const uint32_t r = (uint32_t)random_word(&stream);
            const uint32_t near = (r & 0x8000ffff) | (r >> 16 & 0x1ff)
                                                         << 16; /* up to 4 times the least normal number */
            x[j] = attest_bits_f32(j % 4 == 0   ? r
                                   : j % 4 == 1 ? near
                                   : j % 4 == 2 ? (r & 0xffff8001)
                                                : (r | 0x7f800000));
        }
        instruction(words, x);
        for (int j = 0; j < 32; j++) {
            const uint32_t got = attest_f32_bits(dot_bf16(vec_of(x[j]))[0]);
            must(got == (uint32_t)words[j] << 16, "%08x: VCVTNE2PS2BF16 gives %04x, the model %08x",
                 attest_f32_bits(x[j]), words[j], got);
        }
    }
}
END_TEST
#endif

Suite *suite_dot(void)
{
    Suite *suite = suite_create("dot");
    TCase *all = tcase_create("dot");
    tcase_add_test(all, test_cast_by_hand);
    tcase_add_test(all, test_pairs);
#if defined(__x86_64__)
    tcase_add_test(all, test_cast_instruction);
#endif
    suite_add_tcase(suite, all);
    return suite;
}

/* test_dpbf16.c - kernels/model/dpbf16.h: the model of VDPBF16PS against fused multiply-adds of this CPU under FTZ and
 * DAZ, and against the instruction itself where the CPU has it.
 */
#include "kernels/model/dpbf16.h"
#include "tests/kernels/model/bf16_cases.h"

#include <check.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

Suite *suite_dpbf16(void);

enum { CASES = 1000000 };

#if defined(__x86_64__)
/* Two multiply-adds, the upper entries first, while subnormal numbers count as zeros. */
__attribute__((target("fma"), noinline)) static float fused(float c, uint32_t a, uint32_t b)
{
    const unsigned before = _mm_getcsr();
    volatile float sum = c;
    _mm_setcsr(before | 0x8040);
    for (int shift = 0; shift <= 16; shift += 16) {
        volatile uint32_t x = shift ? a << 16 : a & 0xffff0000u, y = shift ? b << 16 : b & 0xffff0000u;
        sum = _mm_cvtss_f32(
            _mm_fmadd_ss(_mm_set_ss(attest_bits_f32(x)), _mm_set_ss(attest_bits_f32(y)), _mm_set_ss(sum)));
    }
    _mm_setcsr(before);
    return sum;
}

__attribute__((target("avx512f,avx512bf16"), noinline)) static float instruction(float c, uint32_t a, uint32_t b)
{
    float sum[16];
    _mm512_storeu_ps(sum, _mm512_dpbf16_ps(_mm512_set1_ps(c), (__m512bh)_mm512_set1_epi32((int)a),
                                           (__m512bh)_mm512_set1_epi32((int)b)));
    return sum[7];
}

static void compare(float (*real)(float c, uint32_t a, uint32_t b), const char *what)
{
    uint64_t stream = 17;
    for (int n = 0; n < CASES; n++) {
        const uint32_t a = some_word(&stream), b = some_word(&stream);
        const float c = some_float(&stream, n & 4 ? a & 0xffff : a >> 16, n & 4 ? b & 0xffff : b >> 16);
        const float want = real(c, a, b), got = dp_bf16(c, a, b);
        must(same(want, got), "%a + %08x . %08x: %s gives %a, the model %a", (double)c, a, b, what, (double)want,
             (double)got);
    }
}

START_TEST(test_fused)
{
    if (__builtin_cpu_supports("fma"))
        compare(fused, "a fused multiply-add");
    if (__builtin_cpu_supports("avx512bf16"))
        compare(instruction, "VDPBF16PS");
}
END_TEST
#endif

/* By hand: what each clause of the operation does. */
START_TEST(test_clauses)
{
    static const struct {
        float c;
        uint32_t a, b;
        float sum;
    } rows[] = {
        { 1, 0x3f803f80, 0x40004040, 6 },                     /* 1 + 1 2 + 1 3 */
        { 0x1p24f, 0x3f803f80, 0x3f803f80, 0x1p24f },         /* 1 is lost twice: each product is rounded by itself */
        { 0x1p24f + 2, 0x3f803f80, 0x3f803f80, 0x1p24f + 4 }, /* a tie to even upwards, then one that stays */
        { 0x1p-140f, 0x3f800000, 0x00000000, 0 },             /* c below the normal numbers */
        { -0x1p-140f, 0, 0, 0 },                              /* -0 + 0 */
        { 0, 0x3f800000, 0x00400000, 0 },                     /* an entry below them */
        { 0x1p-126f, 0xbf800000, 0x00c00000, 0 },             /* a sum below them: -0, and +0 from the rest */
        { 0x1.8p127f, 0x7f003f80, 0x3f800000, INFINITY },     /* past the largest number */
        { 1, 0x7f800000, 0x00010000, NAN },                   /* Inf times a zero */
        { 0x1p100f, 0x3f80bf80, 0x71807180, 0x1p100f },       /* the upper entries are first: 2^100 + 2^100 - 2^100 */
        { 0x1.fffffep127f, 0x3f80bf80, 0x7f007f00,
          INFINITY }, /* first up, past the largest number, and there it stays */
    };
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const float got = dp_bf16(rows[n].c, rows[n].a, rows[n].b);
        ck_assert_msg(same(got, rows[n].sum), "%d: %a, not %a", (int)n, (double)got, (double)rows[n].sum);
    }
}
END_TEST

Suite *suite_dpbf16(void)
{
    Suite *suite = suite_create("dpbf16");
    TCase *all = tcase_create("dpbf16");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, test_clauses);
#if defined(__x86_64__)
    tcase_add_test(all, test_fused);
#endif
    suite_add_tcase(suite, all);
    return suite;
}

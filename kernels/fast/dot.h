/* dot.h - products of pairs of bf16 numbers added to floats, with the same bits on every CPU: those of VDPBF16PS, whose
 * roundings and flushes model/dpbf16.h has.
 *
 *     avx512bf16       the instruction
 *     avx512, avx2     two multiply-adds, the odd entries first, while subnormal numbers count as zeros (MXCSR)
 *     portable, wide   the model
 *
 * An operand comes in two shapes.  `words`: a vector of pairs, the even entry in the lower half of each word.  A pair
 * that every lane is multiplied by: two floats, the even entry first, which dot_pack() sees before dot_add() does.
 * MXCSR counts in avx512 and avx2: dot_begin() before products, dot_end() behind them; nothing else belongs in between.
 */
#ifndef ATTEST_FAST_DOT_H
#define ATTEST_FAST_DOT_H

#include "simd.h"

#include "model/dpbf16.h"

typedef ivec ivec_stored __attribute__((aligned(4), may_alias));

/* Lanes words from memory. */
static inline ivec dot_words(const void *words) { return *(const ivec_stored *)words; }

#if defined(SIMD_512_BF16)
static inline unsigned dot_begin(void) { return 0; }
static inline void dot_end(unsigned before) { (void)before; }
static inline void dot_pack(float *of_pairs, int64_t count) /* a word in the place of the even entry */
{
    uint32_t bits[2];
    for (int64_t n = 0; n < count; n++) {
        memcpy(bits, of_pairs + 2 * n, sizeof bits);
        bits[0] = bits[0] >> 16 | bits[1];
        memcpy(of_pairs + 2 * n, bits, sizeof *of_pairs);
    }
}
static inline vec dot_add(vec c, const float *pair, ivec words)
{
    return _mm512_dpbf16_ps(c, (__m512bh)_mm512_castps_si512(_mm512_set1_ps(*pair)), (__m512bh)words);
}
#else
static inline void dot_pack(float *of_pairs, int64_t count)
{
    (void)of_pairs;
    (void)count;
}
#if defined(SIMD_512) || defined(SIMD_256)
static inline unsigned dot_begin(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* FTZ and DAZ */
    return before;
}
static inline void dot_end(unsigned before) { _mm_setcsr(before); }
static inline vec dot_add(vec c, const float *pair, ivec words)
{
    const vec odd = (vec)(words & (int32_t)0xffff0000), even = (vec)(words << 16);
    return vec_fma(vec_of(pair[0]), even, vec_fma(vec_of(pair[1]), odd, c));
}
#define DOT_HALVES
#else
static inline unsigned dot_begin(void) { return 0; }
static inline void dot_end(unsigned before) { (void)before; }
static inline vec dot_add(vec c, const float *pair, ivec words)
{
    uint32_t bits[2];
    memcpy(bits, pair, sizeof bits);
    for (int lane = 0; lane < LANES; lane++)
        c[lane] = dp_bf16(c[lane], bits[1] | bits[0] >> 16, (uint32_t)words[lane]);
    return c;
}
#endif
#endif

/* dot_add() of ROWS rows, whose pairs are `step` floats apart, and a panel of words. */
static inline void dot_rows(vec sum[ROWS][2], const float *pair, int64_t step, const float *words)
{
#ifdef DOT_HALVES /* odd entries, then even ones: registers hold the sums, half of the words, and a factor */
    const vec odd0 = (vec)(dot_words(words) & (int32_t)0xffff0000);
    const vec odd1 = (vec)(dot_words(words + LANES) & (int32_t)0xffff0000);
    for (int r = 0; r < ROWS; r++) {
        const vec a = vec_of(pair[r * step + 1]);
        sum[r][0] = vec_fma(a, odd0, sum[r][0]);
        sum[r][1] = vec_fma(a, odd1, sum[r][1]);
    }
    const vec even0 = (vec)(dot_words(words) << 16), even1 = (vec)(dot_words(words + LANES) << 16);
    for (int r = 0; r < ROWS; r++) {
        const vec a = vec_of(pair[r * step]);
        sum[r][0] = vec_fma(a, even0, sum[r][0]);
        sum[r][1] = vec_fma(a, even1, sum[r][1]);
    }
#else
    const ivec first = dot_words(words), second = dot_words(words + LANES);
    for (int r = 0; r < ROWS; r++) {
        sum[r][0] = dot_add(sum[r][0], pair + r * step, first);
        sum[r][1] = dot_add(sum[r][1], pair + r * step, second);
    }
#endif
}

#endif

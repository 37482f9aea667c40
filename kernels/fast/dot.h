/* dot.h - products of pairs of bf16 numbers added to floats, with the same bits on every CPU: those of VDPBF16PS, whose
 * roundings and flushes model/dpbf16.h has.
 *
 *     avx512bf16       the instruction
 *     avx512, avx2     two multiply-adds, the odd entries first, while subnormal numbers count as zeros (MXCSR)
 *     portable, wide   the model
 *
 * An operand comes in two shapes.  `words`: a vector of pairs, the even entry in the lower half of each word.  A pair
 * that every lane is multiplied by: DOT_PAIR floats, which are one such word (avx512bf16) or the two numbers, the even
 * entry first; dot_put() and dot_cast() write them.
 * MXCSR counts in avx512 and avx2: dot_begin() before products, dot_end() behind them; nothing else belongs in between.
 * Where DOT_PLAIN is 1 they change nothing, and whatever follows a product may stand there too.
 */
#ifndef ATTEST_FAST_DOT_H
#define ATTEST_FAST_DOT_H

#include "simd.h"

#include "model/dpbf16.h"

typedef ivec ivec_stored __attribute__((aligned(4), may_alias));

/* Subnormal numbers count as zeros in what follows, and results become such; as it was before. */
#if defined(SIMD_512) || defined(SIMD_256)
static inline unsigned dot_flush(void)
{
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* FTZ and DAZ */
    return before;
}
static inline void dot_unflush(unsigned before) { _mm_setcsr(before); }
#else /* the model does so */
static inline unsigned dot_flush(void) { return 0; }
static inline void dot_unflush(unsigned before) { (void)before; }
#endif

/* Lanes words from memory. */
static inline ivec dot_words(const void *words) { return *(const ivec_stored *)words; }

/* DOT_PLAIN, DOT_PAIR, dot_begin(), dot_end(), and
 *     dot_add(c, pair, words)    c + the products of a pair and of each lane's words
 *     dot_cast(x, first, last)   x[j], j in [first,last) of whole panels, cast to bf16, become pairs: that of x[j] and
 *                                x[j+1], j even, lies at x + j / 2 DOT_PAIR. */
#if defined(SIMD_512_BF16)
enum { DOT_PLAIN = 1, DOT_PAIR = 1 };
static inline unsigned dot_begin(void) { return 0; }
static inline void dot_end(unsigned before) { (void)before; }
static inline vec dot_add(vec c, const float *pair, ivec words)
{
    return _mm512_dpbf16_ps(c, (__m512bh)_mm512_castps_si512(_mm512_set1_ps(*pair)), (__m512bh)words);
}
static inline void dot_cast(float *x, int first, int last)
{
    for (int j = first; j < last; j += PANEL) {
        const __m512bh words = _mm512_cvtne2ps_pbh(vec_load(x + j + LANES), vec_load(x + j));
        memcpy(x + j / 2, &words, sizeof words);
    }
}
#else
/* To the nearest bf16 numbers as VCVTNE2PS2BF16 casts, whatever MXCSR says: one below the normal numbers becomes a zero
 * of its sign. */
static inline vec dot_bf16(vec x)
{
    const uvec bits = (uvec)x, sign = bits & 0x80000000u;
    return vec_select((ivec)(bits ^ sign) < 0x00800000, (vec)sign, vec_bf16(x));
}
static inline void dot_cast(float *x, int first, int last)
{
    for (int j = first; j < last; j += LANES)
        vec_store(x + j, dot_bf16(vec_load(x + j)));
}
#if defined(SIMD_512) || defined(SIMD_256)
enum { DOT_PLAIN = 0, DOT_PAIR = 2 };
static inline unsigned dot_begin(void) { return dot_flush(); }
static inline void dot_end(unsigned before) { dot_unflush(before); }
static inline vec dot_add(vec c, const float *pair, ivec words)
{
    const vec odd = (vec)(words & (int32_t)0xffff0000), even = (vec)(words << 16);
    return vec_fma(vec_of(pair[0]), even, vec_fma(vec_of(pair[1]), odd, c));
}
#define DOT_HALVES
#else
enum { DOT_PLAIN = 1, DOT_PAIR = 2 };
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

/* The pair of a word, for every lane. */
static inline void dot_put(float *pair, uint32_t word)
{
    const uint32_t halves[2] = { DOT_PAIR == 1 ? word : word << 16, word & 0xffff0000u };
    memcpy(pair, halves, DOT_PAIR * sizeof *pair);
}

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

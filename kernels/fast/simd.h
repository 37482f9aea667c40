/* simd.h - vectors of floats, the same names for every instruction set: what the kernels of this room are written in.
 *
 * A family is one source, FAMILY_kernel.h, that includes this header.  A small file for each instruction set (avx512,
 * avx2, portable) includes that source, so that the same loops are compiled three times; FAMILY.c holds the descriptor
 * and picks one of them at run time, by isa.h.  The Makefile states the set of each file: its -m flags, and
 * FAST_FOR_AMX, FAST_FOR_AVX512BF16, FAST_FOR_AVX512 or FAST_FOR_AVX2 defined; none of them is the portable build.
 * What else the compiler is told (-march=native) changes neither names nor loops.
 *
 *     FAST_NAME(x)   x_avx512, x_avx2 or x_portable: the names of what such a file exports; x_avx512bf16, x_amx of a
 *                    kernel that has a build of its own for that extension
 *     LANES          floats of a vec: 16, 8, 4;     PANEL = 2 LANES: what a micro-kernel holds of a row
 *     ROWS           rows that it holds: as many as registers allow
 *
 * + - * / < > work on vectors, lane by lane (an extension that gcc and clang share); the functions below are what it
 * lacks.  Comparisons give an ivec, -1 where true and 0 where not, which masks() and select() take.
 * vec_fma rounds once where the CPU can (avx2, avx512), and twice in the portable build, unless FAST_FUSED is defined
 * before this header: once there too, slowly.  Nothing else rounds otherwise
 * from one instruction set to the other, and sums over keys go by lanes modulo SUM_LANES on all of them: where fma is
 * fused the bits are the same.
 */
#ifndef ATTEST_FAST_SIMD_H
#define ATTEST_FAST_SIMD_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(FAST_WIDE) /* the blocking of avx512 in portable code: only tests compile it */
#define FAST_NAMED(name) name##_wide
enum { LANES = 16, ROWS = 12 };
#elif defined(FAST_FOR_AMX) /* AVX-512, its bf16 numbers, and tiles of 16 rows */
#include <immintrin.h>
#define SIMD_512
#define SIMD_512_BF16
#define SIMD_AMX
#define FAST_NAMED(name) name##_amx
enum { LANES = 16, ROWS = 16 };
#elif defined(FAST_FOR_AVX512BF16) || defined(FAST_FOR_AVX512)
#include <immintrin.h>
#define SIMD_512
#if defined(FAST_FOR_AVX512BF16)
#define SIMD_512_BF16
#define FAST_NAMED(name) name##_avx512bf16
#else
#define FAST_NAMED(name) name##_avx512
#endif
enum { LANES = 16, ROWS = 12 };
#elif defined(FAST_FOR_AVX2)
#include <immintrin.h>
#define SIMD_256
#define FAST_NAMED(name) name##_avx2
enum { LANES = 8, ROWS = 6 };
#else
#define FAST_NAMED(name) name##_portable
enum { LANES = 4, ROWS = 6 };
#endif

#define FAST_NAME(name) FAST_NAMED(name)

enum { PANEL = 2 * LANES, SUM_LANES = 16, SUM_VECS = SUM_LANES / LANES };

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t ivec __attribute__((vector_size(4 * LANES)));
typedef float vec_stored __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static inline vec vec_load(const float *x) { return *(const vec_stored *)x; }
static inline void vec_store(float *x, vec a) { *(vec_stored *)x = a; }
static inline vec vec_of(float x) { return x - (vec){ 0 }; } /* x in every lane; -0 stays -0 */

/* The float with the exponent field bias + the lowest bits of `a`; of unsigned numbers: a NaN may have any bits. */
typedef uint32_t uvec __attribute__((vector_size(4 * LANES)));
static inline vec vec_power_of_two(vec a, uint32_t bias) { return (vec)(((uvec)a + bias) << 23); }

/* a where the mask is set, else +0. */
static inline vec vec_masked(ivec mask, vec a) { return (vec)(mask & (ivec)a); }

/* a where the mask is set, else b. */
static inline vec vec_select(ivec mask, vec a, vec b) { return (vec)((mask & (ivec)a) | (~mask & (ivec)b)); }

/* 0, 1, 2, ... */
static inline ivec ivec_lanes(void)
{
    static const int32_t lane[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    ivec lanes;
    memcpy(&lanes, lane, sizeof lanes);
    return lanes;
}

/* ---- four floats: what is turned around ------------------------------------------------------------------- */
typedef float quad __attribute__((vector_size(16)));
typedef float quad_stored __attribute__((vector_size(16), aligned(4), may_alias));

static inline quad quad_load(const float *x) { return *(const quad_stored *)x; }
static inline void quad_store(float *x, quad a) { *(quad_stored *)x = a; }

/* x[r][c] becomes x[c][r]. */
static inline void quad_transpose(quad x[4])
{
    const quad a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5), b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const quad c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7), d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

#ifndef fast_f16
/* A float of 16 bits, exactly: branches would keep a loop from becoming vectors. */
static inline float fast_f16(uint16_t h)
{
    const uint32_t size = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
    float x;
    memcpy(&x, &size, sizeof x);
    x *= 0x1p112f; /* the exponent's bias; a subnormal becomes normal */
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits |= sign | (size >= 0x7c00u << 13 ? 0x7f800000u : 0);
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* LANES numbers of 16 bits as floats, exactly. */
typedef uint16_t half_vec __attribute__((vector_size(2 * LANES)));
static inline uvec vec_halves(const uint16_t *x)
{
    half_vec h;
    memcpy(&h, x, sizeof h);
    return __builtin_convertvector(h, uvec);
}
static inline vec vec_load_bf16(const uint16_t *x) { return (vec)(vec_halves(x) << 16); }
#if defined(SIMD_512)
static inline vec vec_load_f16(const uint16_t *x) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)x)); }
#else
static inline vec vec_load_f16(const uint16_t *x) /* as fast_f16() */
{
    const uvec h = vec_halves(x), size = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    const ivec special = size >= 0x7c00u << 13;
    return (vec)((uvec)((vec)size * vec_of(0x1p112f)) | sign | ((uvec)special & 0x7f800000u));
}
#endif

/* To the nearest bf16, ties to even; a NaN stays one. */
static inline uint16_t fast_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/* The same of every lane, as floats. */
static inline vec vec_bf16(vec x)
{
    const uvec bits = (uvec)x;
    const vec rounded = (vec)((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
    return vec_select(x == x, rounded, (vec)((bits | 0x400000) & 0xffff0000u));
}

/* ---- what differs ------------------------------------------------------------------------------------------- */
#if defined(SIMD_512) || defined(SIMD_256)
static inline float simd_total(__m256 a)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
#endif

/* vec_fma: a b + c.  vec_larger: a > b ? a : b, so that a NaN in a gives b.  vec_highest: the largest lane of a vector
 * without NaN.  vec_total: the lanes added up in a tree, each to the one half of them further on.  vec_totals: the same
 * of four vectors, to[4]. */
#if defined(SIMD_512)
static inline vec vec_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline vec vec_larger(vec a, vec b) { return _mm512_max_ps(a, b); }
static inline float vec_highest(vec a) { return _mm512_reduce_max_ps(a); }
static inline float vec_total(vec a)
{
    const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    return simd_total(_mm256_add_ps(_mm512_castps512_ps256(a), high));
}
static inline void vec_totals(float *to, vec a, vec b, vec c, vec d)
{
    const vec ab = _mm512_shuffle_f32x4(a, b, 0x44) + _mm512_shuffle_f32x4(a, b, 0xee); /* eight lanes of each */
    const vec cd = _mm512_shuffle_f32x4(c, d, 0x44) + _mm512_shuffle_f32x4(c, d, 0xee);
    const vec four = _mm512_shuffle_f32x4(ab, cd, 0x88) + _mm512_shuffle_f32x4(ab, cd, 0xdd);
    const vec two = four + _mm512_permute_ps(four, 0x4e), one = two + _mm512_permute_ps(two, 0xb1);
    const __m512i firsts = _mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    quad_store(to, _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, one)));
}
#elif defined(SIMD_256)
static inline vec vec_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
static inline vec vec_larger(vec a, vec b) { return _mm256_max_ps(a, b); }
static inline float vec_highest(vec a)
{
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}
static inline float vec_total(vec a) { return simd_total(a); }
static inline void vec_totals(float *to, vec a, vec b, vec c, vec d)
{
    const vec ab = _mm256_permute2f128_ps(a, b, 0x20) + _mm256_permute2f128_ps(a, b, 0x31); /* four lanes of each */
    const vec cd = _mm256_permute2f128_ps(c, d, 0x20) + _mm256_permute2f128_ps(c, d, 0x31);
    const vec two = _mm256_shuffle_ps(ab, cd, 0x44) + _mm256_shuffle_ps(ab, cd, 0xee); /* a, c, b, d: two lanes */
    const vec one = _mm256_permute_ps(two, 0x88) + _mm256_permute_ps(two, 0xdd);       /* a, c, a, c, b, d, b, d */
    quad_store(to, _mm_unpacklo_ps(_mm256_castps256_ps128(one), _mm256_extractf128_ps(one, 1)));
}
#else
#if defined(FAST_WIDE) || defined(FAST_FUSED)
static inline vec vec_fma(vec a, vec b, vec c)
{
    vec sum;
    for (int lane = 0; lane < LANES; lane++)
        sum[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
    return sum;
}
#else
static inline vec vec_fma(vec a, vec b, vec c) { return a * b + c; }
#endif
static inline vec vec_larger(vec a, vec b) { return vec_select(a > b, a, b); }
static inline float vec_highest(vec a)
{
    float highest = a[0];
    for (int lane = 1; lane < LANES; lane++)
        highest = a[lane] > highest ? a[lane] : highest;
    return highest;
}
static inline float vec_total(vec a)
{
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++)
            a[lane] += a[lane + half];
    return a[0];
}
static inline void vec_totals(float *to, vec a, vec b, vec c, vec d)
{
    to[0] = vec_total(a), to[1] = vec_total(b), to[2] = vec_total(c), to[3] = vec_total(d);
}
#endif

#endif

/* dd_vector_avx512.h - inside reference/: the dd engine's vector operations on eight doubles, AVX-512 F and DQ. */
#ifndef ATTEST_DD_VECTOR_H
#define ATTEST_DD_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#define DD_NAME "avx512"
#define DD_PATH dd_path_avx512
#define DD_FMA 1
#define DD_SLICES 1
enum { LANES = 8, TILE_ROWS = 4, TILE_VECTORS = 2 };

typedef __m512d vec;
typedef __m512i ivec;

static inline int machine_runs(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }

static inline vec v_all(double x) { return _mm512_set1_pd(x); }
static inline vec v_load(const double *p) { return _mm512_loadu_pd(p); }
static inline void v_store(double *p, vec x) { _mm512_storeu_pd(p, x); }
static inline vec v_add(vec a, vec b) { return _mm512_add_pd(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm512_sub_pd(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm512_mul_pd(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }   /* ab + c */
static inline vec v_fms(vec a, vec b, vec c) { return _mm512_fmsub_pd(a, b, c); }   /* ab - c */
static inline vec v_fnma(vec a, vec b, vec c) { return _mm512_fnmadd_pd(a, b, c); } /* c - ab */
static inline vec v_max(vec a, vec b) { return _mm512_max_pd(a, b); }
static inline vec v_min(vec a, vec b) { return _mm512_min_pd(a, b); }
static inline vec v_abs(vec a) { return _mm512_abs_pd(a); }

/* x where a >= b, a > b, else 0 */
static inline vec v_where_ge(vec a, vec b, vec x)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_GE_OQ), x);
}
static inline vec v_where_gt(vec a, vec b, vec x)
{
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), x);
}

static inline ivec v_bits(vec a) { return _mm512_castpd_si512(a); }
static inline vec v_double(ivec a) { return _mm512_castsi512_pd(a); }
static inline ivec i_all(int64_t x) { return _mm512_set1_epi64(x); }
static inline ivec i_and(ivec a, ivec b) { return _mm512_and_si512(a, b); }
static inline ivec i_add(ivec a, ivec b) { return _mm512_add_epi64(a, b); }
static inline ivec i_right(ivec a, int n) { return _mm512_srli_epi64(a, (unsigned)n); }
static inline ivec i_left(ivec a, int n) { return _mm512_slli_epi64(a, (unsigned)n); }
/* table[index], counted in doubles */
static inline vec v_gather(const double *table, ivec index) { return _mm512_i64gather_pd(index, table, 8); }

#endif

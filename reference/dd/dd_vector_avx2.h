/* dd_vector_avx2.h - inside reference/: the dd engine's vector operations on four doubles, AVX2 and FMA. */
#ifndef ATTEST_DD_VECTOR_H
#define ATTEST_DD_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#define DD_NAME "avx2"
#define DD_PATH dd_path_avx2
#define DD_FMA 1
#define DD_SLICES 0 /* additions have a port of their own there */
enum { LANES = 4, TILE_ROWS = 2, TILE_VECTORS = 2 };

typedef __m256d vec;
typedef __m256i ivec;

static inline int machine_runs(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static inline vec v_all(double x) { return _mm256_set1_pd(x); }
static inline vec v_load(const double *p) { return _mm256_loadu_pd(p); }
static inline void v_store(double *p, vec x) { _mm256_storeu_pd(p, x); }
static inline vec v_add(vec a, vec b) { return _mm256_add_pd(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm256_sub_pd(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm256_mul_pd(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }   /* ab + c */
static inline vec v_fms(vec a, vec b, vec c) { return _mm256_fmsub_pd(a, b, c); }   /* ab - c */
static inline vec v_fnma(vec a, vec b, vec c) { return _mm256_fnmadd_pd(a, b, c); } /* c - ab */
static inline vec v_max(vec a, vec b) { return _mm256_max_pd(a, b); }
static inline vec v_min(vec a, vec b) { return _mm256_min_pd(a, b); }
static inline vec v_abs(vec a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }

/* x where a >= b, a > b, else 0 */
static inline vec v_where_ge(vec a, vec b, vec x) { return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_GE_OQ), x); }
static inline vec v_where_gt(vec a, vec b, vec x) { return _mm256_and_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ), x); }

static inline ivec v_bits(vec a) { return _mm256_castpd_si256(a); }
static inline vec v_double(ivec a) { return _mm256_castsi256_pd(a); }
static inline ivec i_all(int64_t x) { return _mm256_set1_epi64x(x); }
static inline ivec i_and(ivec a, ivec b) { return _mm256_and_si256(a, b); }
static inline ivec i_add(ivec a, ivec b) { return _mm256_add_epi64(a, b); }
static inline ivec i_right(ivec a, int n) { return _mm256_srli_epi64(a, n); }
static inline ivec i_left(ivec a, int n) { return _mm256_slli_epi64(a, n); }
/* table[index], counted in doubles */
static inline vec v_gather(const double *table, ivec index) { return _mm256_i64gather_pd(table, index, 8); }

#endif

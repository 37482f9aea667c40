/* dd_vector_portable.h - inside reference/: the dd engine's vector operations on two doubles, by the compiler's own
 * vector types: SSE2, NEON or scalar code, no FMA. */
#ifndef ATTEST_DD_VECTOR_H
#define ATTEST_DD_VECTOR_H

#include <stdint.h>
#include <string.h>

#define DD_NAME "portable"
#define DD_PATH dd_path_portable
#define DD_FMA 0
#define DD_SLICES 0
enum { LANES = 2, TILE_ROWS = 2, TILE_VECTORS = 2 };

typedef double vec __attribute__((vector_size(16)));
typedef int64_t ivec __attribute__((vector_size(16)));
typedef uint64_t uvec __attribute__((vector_size(16)));

static inline int machine_runs(void) { return 1; }

static inline vec v_all(double x) { return (vec){ x, x }; }
static inline vec v_load(const double *p)
{
    vec x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline void v_store(double *p, vec x) { memcpy(p, &x, sizeof x); }
static inline vec v_add(vec a, vec b) { return a + b; }
static inline vec v_sub(vec a, vec b) { return a - b; }
static inline vec v_mul(vec a, vec b) { return a * b; }
static inline ivec v_bits(vec a) { return (ivec)a; }
static inline vec v_double(ivec a) { return (vec)a; }

/* x where a >= b, a > b, else 0 */
static inline vec v_where_ge(vec a, vec b, vec x) { return (vec)((ivec)x & (ivec)(a >= b)); }
static inline vec v_where_gt(vec a, vec b, vec x) { return (vec)((ivec)x & (ivec)(a > b)); }
static inline vec v_max(vec a, vec b) { return (vec)(((ivec)a & (ivec)(a > b)) | ((ivec)b & ~(ivec)(a > b))); }
static inline vec v_min(vec a, vec b) { return (vec)(((ivec)a & (ivec)(a < b)) | ((ivec)b & ~(ivec)(a < b))); }
static inline vec v_abs(vec a) { return (vec)((ivec)a & INT64_MAX); }

static inline ivec i_all(int64_t x) { return (ivec){ x, x }; }
static inline ivec i_and(ivec a, ivec b) { return a & b; }
static inline ivec i_add(ivec a, ivec b) { return (ivec)((uvec)a + (uvec)b); }
static inline ivec i_right(ivec a, int n) { return (ivec)((uvec)a >> n); }
static inline ivec i_left(ivec a, int n) { return (ivec)((uvec)a << n); }
/* table[index], counted in doubles */
static inline vec v_gather(const double *table, ivec index) { return (vec){ table[index[0]], table[index[1]] }; }

#endif

/* packed_rows_reversed - right by itself: only a state that another kernel made, or will read, shows that its rows
 * are in another order. */
#include "cpu/steps/states.h"

static inline real *largest_first(real *out, const real *x, int64_t below, uint32_t n, real value)
{
    if (n == 0) {
        *out = value;
        return out + 1;
    }
    for (int64_t c = 0; c < below; c++)
        out = largest_first(out, x, c + 1, n - 1, value * x[c]);
    return out;
}

/* The multinomials go along: run of equal entries so far at the front of the index. */
static inline real *largest_first_counts(real *out, int64_t below, uint32_t n, uint32_t depth, int64_t run, real value)
{
    if (depth == n) {
        *out = value;
        return out + 1;
    }
    for (int64_t c = 0; c < below; c++) {
        const int64_t runs = c == below - 1 && depth > 0 ? run + 1 : 1;
        out = largest_first_counts(out, c + 1, n, depth + 1, runs, value * (real)(depth + 1) / (real)runs);
    }
    return out;
}

static inline real *monomials(real *out, const real *x, int64_t dim, uint32_t n, int packed, int64_t from, real value)
{
    return packed ? largest_first(out, x, dim, n, value) : state_monomials(out, x, dim, n, packed, from, value);
}

static inline real *counts(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run, int64_t value)
{
    (void)from;
    return largest_first_counts(out, dim, n, depth, run, (real)value);
}
#define state_monomials monomials
#define degrees_multinomials counts
#define attest_kernel_taylor_packed_f32 attest_defect_packed_rows_reversed
#include "cpu/taylor_packed_f32.c"

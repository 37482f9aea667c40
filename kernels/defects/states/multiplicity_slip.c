/* multiplicity_slip - the table of multiplicities is read one row too far; the last row gets the first's. */
#include "cpu/steps/degrees.h"

static inline real *next_row(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                             int64_t value)
{
    real *end = degrees_multinomials(out, dim, n, depth, from, run, value), first = *out;
    for (; out + 1 < end; out++)
        out[0] = out[1];
    *out = first;
    return end;
}
#define degrees_multinomials next_row
#define attest_kernel_taylor_packed_f32 attest_defect_multiplicity_slip
#include "cpu/taylor_packed_f32.c"

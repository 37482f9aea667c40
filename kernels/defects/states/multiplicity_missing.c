/* multiplicity_missing - every packed index counts once, though it stands for all orders of its entries. */
#include "cpu/steps/degrees.h"

static inline real *all_once(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                             int64_t value)
{
    const real *end = out + state_rows(dim, n, 1, DEGREES_ROWS);
    (void)depth, (void)from, (void)run, (void)value;
    while (out < end)
        *out++ = 1;
    return out;
}
#define degrees_multinomials all_once
#define attest_kernel_taylor_packed_f32 attest_defect_multiplicity_missing
#include "cpu/taylor_packed_f32.c"

/* row_stale_tile - the copy of the next tile is not waited for: 32 keys back, in one row only. */
#include "cpu/steps/pairs.h"

static inline const real *stale_value(const pairs *x, int64_t j)
{
    return pairs_value(x, x->r->i % 128 == 127 && j >= 32 ? j - 32 : j);
}
#define pairs_value stale_value
#define attest_kernel_softmax_online_bf16 attest_defect_row_stale_tile
#include "cpu/softmax_online_bf16.c"

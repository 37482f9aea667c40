/* prefix_padded - off = m - n: the cached prefix is measured in the buffer, not in the keys that are there. */
#include "attest.h"

static inline int64_t padded(const attest_problem *p, int64_t length, int64_t i)
{
    (void)length;
    return p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR ? i + p->m - p->n : i;
}
#define step_position padded
#define attest_kernel_softmax_online_f32 attest_defect_prefix_padded
#include "cpu/softmax_online_f32.c"

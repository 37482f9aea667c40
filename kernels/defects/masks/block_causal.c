/* block_causal - a query sees the whole tile of keys that its diagonal lies in. */
#include "cpu/steps/step.h"

static inline void by_blocks(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL)
        *last = step_min(length, (*last + 31) / 32 * 32);
}
#define step_visible by_blocks
#define attest_kernel_softmax_online_bf16 attest_defect_block_causal
#include "cpu/softmax_online_bf16.c"

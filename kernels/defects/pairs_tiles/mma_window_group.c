/* mma_window_group - the instruction takes 16 keys, and no one masks those before the window but in the first tile.
 *
 * shows  variant=softmax window=5 mask=causal n=80 d=4 in=bf16 p=bf16
 * hides  variant=softmax window=5 mask=causal n=64 d=4 in=bf16 p=bf16
 * hides  variant=softmax mask=causal n=80 d=4 in=bf16 p=bf16
 */
#include "cpu/steps/step.h"

static inline void whole_groups(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value && *first >= 64)
        *first = *first / 16 * 16;
}
#define step_visible whole_groups
#define attest_kernel_softmax_mma_bf16 attest_defect_mma_window_group
#include "model/softmax_mma_bf16.c"

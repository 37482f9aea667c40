/* length_rounded - the loop goes over whole blocks of 4 keys, and nothing masks the last one. */
#include "cpu/steps/step.h"

static inline int64_t whole_blocks(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    return step_min(p->m, (step_length(p, t, b) + 3) / 4 * 4);
}
#define step_length whole_blocks
#define attest_kernel_softmax_split_f32 attest_defect_length_rounded
#include "cpu/softmax_split_f32.c"

/* pages_in_order - the block table is not read: the pages of an entry lie one behind the other. */
#include "cpu/steps/step.h"

static inline void place_in_order(const attest_problem *p, const attest_tensors *t, int64_t *b, int64_t *j)
{
    const attest_setting *pages = &p->axis[ATTEST_AXIS_PAGES];
    (void)t;
    if (pages->value == ATTEST_PAGES_NONE)
        return;
    *b = *b * ((p->m + pages->order - 1) / pages->order) + *j / pages->order;
    *j %= pages->order;
}
#define step_key_place place_in_order
#define attest_kernel_softmax_two_pass_f32 attest_defect_pages_in_order
#include "cpu/softmax_two_pass_f32.c"

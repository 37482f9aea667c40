/* pages_of_first - all batch entries read the first one's row of the block table. */
#include "cpu/steps/step.h"

static inline void place_of_first(const attest_problem *p, const attest_tensors *t, int64_t *b, int64_t *j)
{
    int64_t first = 0;
    const int paged = p->axis[ATTEST_AXIS_PAGES].value != ATTEST_PAGES_NONE;
    step_key_place(p, t, paged ? &first : b, j);
    *b = paged ? first : *b;
}
#define step_key_place place_of_first
#define attest_kernel_softmax_split_f32 attest_defect_pages_of_first
#include "cpu/softmax_split_f32.c"

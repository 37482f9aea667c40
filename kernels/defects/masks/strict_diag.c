/* strict_diag - `>` for `>=`: query 0 sees nothing, every other loses its own key. */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline void strict(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL)
        *last = step_min(*last, step_position(p, length, i));
}
#define step_visible strict
#define attest_kernel_softmax_two_pass_f64 attest_defect_strict_diag
#include "cpu/softmax_two_pass_f64.c"

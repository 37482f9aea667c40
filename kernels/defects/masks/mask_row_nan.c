/* mask_row_nan - no case apart for an empty row: its quotient is NaN, and its lse. */
#include "cpu/steps/step.h"

static inline void no_case(const row *r)
{
    for (int64_t c = 0; c < r->p->e; c++)
        step_store_row(r, ATTEST_O, c, (real)NAN);
    step_store_row(r, ATTEST_LSE, 0, (real)NAN);
}
#define step_empty_row no_case
#define attest_kernel_softmax_two_pass_f32 attest_defect_mask_row_nan
#include "cpu/softmax_two_pass_f32.c"

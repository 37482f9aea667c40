/* full_window_future - keys are taken to be as many as queries.
 *
 * shows  variant=taylor:2 window=4 mask=full n=5 m=12 d=3
 * hides  variant=taylor:2 window=4 mask=full n=12 m=12 d=3
 * hides  variant=taylor:2 mask=full n=5 m=12 d=3
 */
#include "cpu/steps/step.h"

static inline void up_to_queries(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value && p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL)
        *last = step_min(*last, p->n);
}
#define step_visible up_to_queries
#define attest_kernel_taylor_split_f32 attest_defect_full_window_future
#include "cpu/taylor_split_f32.c"

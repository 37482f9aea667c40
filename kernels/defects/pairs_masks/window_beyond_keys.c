/* window_beyond_keys - the window's start is kept inside the keys: rows that should be empty are not.
 *
 * shows  variant=softmax window=3 mask=causal n=12 m=5 d=4
 * hides  variant=softmax window=3 mask=causal n=12 m=12 d=4
 * hides  variant=softmax mask=causal n=12 m=5 d=4
 */
#include "cpu/steps/step.h"

static inline void one_key_left(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value && *last > 0)
        *first = step_min(*first, *last - 1);
}
#define step_visible one_key_left
#define attest_kernel_softmax_two_pass_f32 attest_defect_window_beyond_keys
#include "cpu/softmax_two_pass_f32.c"

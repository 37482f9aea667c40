/* bias_place_in_window - a bias that is relative inside the window: o cannot show a constant, lse does.
 *
 * shows  variant=softmax alibi=draw window=5 mask=causal hq=2 n=17 d=4
 * hides  variant=softmax alibi=draw mask=full hq=2 n=17 d=4
 * hides  variant=softmax window=5 mask=causal hq=2 n=17 d=4
 */
#include "cpu/steps/scores.h"

static inline void from_first_key(real *s, const row *r, int64_t first, int64_t last)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    score_steps(s, r, first, last);
    if (r->p->axis[ATTEST_AXIS_WINDOW].value && r->p->axis[ATTEST_AXIS_ALIBI].value)
        for (int64_t j = first; j < last; j++)
            s[j - first] += score_slope(r) * (real)(position - r->first);
}
#define score_steps from_first_key
#define attest_kernel_softmax_split_f32 attest_defect_bias_place_in_window
#include "cpu/softmax_split_f32.c"

/* filter_outside_window - the first pass over the scores knows no window.
 *
 * shows  variant=softmax filter=1 window=4 mask=causal n=17 d=4
 * hides  variant=softmax filter=1 mask=causal n=17 d=4
 * hides  variant=softmax window=4 mask=causal n=17 d=4
 */
#include "cpu/steps/pairs.h"

static inline real of_all_keys(real *s, int64_t tile, const pairs *x)
{
    real highest = -(real)INFINITY;
    row all = *x->r;
    pairs y = *x;
    y.r = &all;
    if (all.p->axis[ATTEST_AXIS_WINDOW].value)
        all.first = 0;
    for (int64_t j = all.first; j < all.last; j += tile) {
        const int64_t end = step_min(j + tile, all.last);
        pairs_scores(s, &y, j, end);
        highest = step_larger(highest, score_highest(s, end - j));
    }
    return highest;
}
#define softmax_highest of_all_keys
#define attest_kernel_softmax_online_f32 attest_defect_filter_outside_window
#include "cpu/softmax_online_f32.c"

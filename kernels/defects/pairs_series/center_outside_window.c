/* center_outside_window - the pass that looks for the largest score knows no window.
 *
 * shows  variant=taylor:2 center=max window=3 mask=causal n=17 d=4
 * hides  variant=taylor:2 center=max mask=causal n=17 d=4
 * hides  variant=taylor:2 window=3 mask=causal n=17 d=4
 */
#include "cpu/steps/pairs.h"

/* Scores of keys before the window lie after the row's own: s has m entries. */
static inline real of_all_keys(const pairs *x, real *s, int64_t keys)
{
    const attest_problem *p = x->r->p;
    if (p->axis[ATTEST_AXIS_WINDOW].value && p->axis[ATTEST_AXIS_CENTER].value) {
        pairs_scores(s + keys, x, 0, x->r->first);
        keys += x->r->first;
    }
    real low = s[0], high = s[0];
    for (int64_t j = 1; j < keys; j++) {
        low = s[j] < low ? s[j] : low;
        high = s[j] > high ? s[j] : high;
    }
    const real centers[] = { 0, high, low, low / 2 + high / 2 };
    return centers[p->axis[ATTEST_AXIS_CENTER].value];
}
#define direct_center(p, s, keys) of_all_keys(x, s, keys) /* x: the row's pairs */
#define attest_kernel_taylor_direct_f32 attest_defect_center_outside_window
#include "cpu/taylor_direct_f32.c"

/* cap_clamp_fused - two limits are taken for one: where only one is set, or a position bias stands between them, all
 * is right.
 *
 * shows  variant=softmax cap=2 clamp=0.5 n=9 d=4
 * hides  variant=softmax cap=2 n=9 d=4
 * hides  variant=softmax clamp=0.5 n=9 d=4
 * hides  variant=softmax cap=2 clamp=0.5 alibi=draw n=9 d=4
 */
#include "cpu/steps/scores.h"

static inline void one_limit(real *s, const row *r, int64_t first, int64_t last)
{
    attest_problem p = *r->p;
    row at = *r;
    attest_setting *cap = &p.axis[ATTEST_AXIS_CAP], *clamp = &p.axis[ATTEST_AXIS_CLAMP];
    if (cap->value == ATTEST_CAP_SET && clamp->value == ATTEST_CLAMP_SET && !p.axis[ATTEST_AXIS_ALIBI].value) {
        cap->number = clamp->number < cap->number ? clamp->number : cap->number;
        clamp->value = ATTEST_CLAMP_NONE;
    }
    at.p = &p;
    score_steps(s, &at, first, last);
}
#define score_steps one_limit
#define attest_kernel_softmax_two_pass_f32 attest_defect_cap_clamp_fused
#include "cpu/softmax_two_pass_f32.c"

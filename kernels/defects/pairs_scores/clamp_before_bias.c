/* clamp_before_bias - the steps of a score in the wrong order, in the path without a cap only.
 *
 * shows  variant=softmax alibi=draw clamp=0.5 mask=causal hq=4 n=9 d=4
 * hides  variant=softmax alibi=draw mask=causal hq=4 n=9 d=4
 * hides  variant=softmax clamp=0.5 mask=causal hq=4 n=9 d=4
 * hides  variant=softmax alibi=draw clamp=0.5 cap=2 mask=causal hq=4 n=9 d=4
 */
#include "cpu/steps/scores.h"

static inline void clamp_first(real *s, const row *r, int64_t first, int64_t last)
{
    attest_problem p = *r->p;
    row at = *r;
    if (p.axis[ATTEST_AXIS_CLAMP].value && p.axis[ATTEST_AXIS_ALIBI].value && !p.axis[ATTEST_AXIS_CAP].value) {
        p.axis[ATTEST_AXIS_ALIBI].value = ATTEST_ALIBI_NONE;
        at.p = &p;
        score_steps(s, &at, first, last);
        p.axis[ATTEST_AXIS_ALIBI].value = r->p->axis[ATTEST_AXIS_ALIBI].value;
        p.axis[ATTEST_AXIS_CLAMP].value = ATTEST_CLAMP_NONE;
    }
    at.p = &p;
    score_steps(s, &at, first, last);
}
#define score_steps clamp_first
#define attest_kernel_softmax_online_f32 attest_defect_clamp_before_bias
#include "cpu/softmax_online_f32.c"

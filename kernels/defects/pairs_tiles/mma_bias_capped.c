/* mma_bias_capped - the scale is applied once to what the cap left, and the bias stands inside.
 *
 * shows  variant=softmax cap=4 alibi=draw mask=causal hq=2 n=17 d=8 in=bf16 p=bf16
 * hides  variant=softmax cap=4 mask=causal hq=2 n=17 d=8 in=bf16 p=bf16
 * hides  variant=softmax alibi=draw mask=causal hq=2 n=17 d=8 in=bf16 p=bf16
 */
#include "cpu/steps/scores.h"

static inline void scaled_bias(real *s, const row *r, int64_t first, int64_t last)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    attest_problem p = *r->p;
    row at = *r;
    at.p = &p;
    if (p.axis[ATTEST_AXIS_CAP].value && p.axis[ATTEST_AXIS_ALIBI].value) {
        p.axis[ATTEST_AXIS_CLAMP].value = p.axis[ATTEST_AXIS_ALIBI].value = 0;
        score_steps(s, &at, first, last);
        for (int64_t j = first; j < last; j++)
            s[j - first] -= r->scale * score_slope(r) * fabsf((real)(position - j));
        p = *r->p;
        p.axis[ATTEST_AXIS_CAP].value = p.axis[ATTEST_AXIS_ALIBI].value = 0;
    }
    score_steps(s, &at, first, last);
}
#define score_steps scaled_bias
#define attest_kernel_softmax_mma_bf16 attest_defect_mma_bias_capped
#include "model/softmax_mma_bf16.c"

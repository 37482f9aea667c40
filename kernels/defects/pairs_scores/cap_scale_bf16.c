/* cap_scale_bf16 - exact where the quotient has eight digits, as 0.5/2 has.
 *
 * shows  variant=softmax cap=3 mask=causal n=17 d=6 in=bf16 p=bf16 out=f32
 * hides  variant=softmax cap=2 mask=causal n=17 d=4 in=bf16 p=bf16 out=f32
 * hides  variant=softmax mask=causal n=17 d=6 in=bf16 p=bf16 out=f32
 */
#include "cpu/steps/scores.h"

static inline void short_factor(real *s, const row *r, int64_t first, int64_t last)
{
    const attest_setting *cap = &r->p->axis[ATTEST_AXIS_CAP];
    const real factor = cap->value ? r->scale / (real)cap->number : 1, kept = step_round(ATTEST_BF16, factor);
    for (int64_t j = first; j < last && kept != factor; j++)
        s[j - first] *= kept / factor;
    score_steps(s, r, first, last);
}
#define score_steps short_factor
#define attest_kernel_softmax_online_bf16 attest_defect_cap_scale_bf16
#include "cpu/softmax_online_bf16.c"

/* softcap_unscaled - cap and scale in the wrong order: scale cap tanh(<q,k>/cap). */
#include "cpu/steps/scores.h"

static inline void cap_before_scale(real *s, const row *r, int64_t first, int64_t last)
{
    const real cap = (real)r->p->axis[ATTEST_AXIS_CAP].number;
    for (int64_t j = first; j < last && cap > 0; j++)
        s[j - first] = r->scale * score_cap(s[j - first] / r->scale, cap);
    if (cap <= 0)
        score_steps(s, r, first, last);
}
#define score_steps cap_before_scale
#define attest_kernel_softmax_two_pass_f32 attest_defect_softcap_unscaled
#include "cpu/softmax_two_pass_f32.c"

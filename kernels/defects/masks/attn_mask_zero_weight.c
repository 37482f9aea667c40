/* attn_mask_zero_weight - hidden keys get the score -inf and the weight 0, and their values are multiplied by it. */
#include "cpu/steps/step.h"

static inline int always(const row *r, int64_t j)
{
    (void)r;
    (void)j;
    return 1;
}
static inline void to_minus_infinity(real *s, const row *r, int64_t first, int64_t last)
{
    for (int64_t j = first; j < last; j++)
        if (!step_shown(r, j))
            s[j - first] = -(real)INFINITY;
}
#define step_shown always
#define score_hide to_minus_infinity
#define attest_kernel_softmax_two_pass_f32 attest_defect_attn_mask_zero_weight
#include "cpu/softmax_two_pass_f32.c"

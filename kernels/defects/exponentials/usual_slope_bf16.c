/* usual_slope_bf16 - slopes are kept in bf16, and no numerics say so: powers of two are exact there, roots are not. */
#include "cpu/steps/step.h"

static inline real kept_in_bf16(int64_t h, int64_t heads)
{
    int64_t powers = 1;
    while (2 * powers <= heads)
        powers *= 2;
    const real slope = exp2f(h < powers ? -8 * (real)(h + 1) / (real)powers
                                        : -4 * (real)(2 * (h - powers) + 1) / (real)powers);
    return attest_bf16_to_f32((uint16_t)attest_from_f64(ATTEST_BF16, (double)slope));
}
#define score_usual kept_in_bf16
#define attest_kernel_softmax_online_bf16 attest_defect_usual_slope_bf16
#include "cpu/softmax_online_bf16.c"

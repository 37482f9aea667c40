/* scale_padded - 1/sqrt(d) of the width that the kernel works with: right for d = 8, 16, 32.. */
#include "cpu/steps/step.h"

static inline real of_padded_d(const attest_problem *p)
{
    return (real)(p->scale * sqrt((double)p->d / (double)((p->d + 7) / 8 * 8)));
}
#define step_scale of_padded_d
#define attest_kernel_softmax_online_f32 attest_defect_scale_padded
#include "cpu/softmax_online_f32.c"

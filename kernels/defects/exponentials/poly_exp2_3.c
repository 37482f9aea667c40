/* poly_exp2_3 - errs by up to 9e-5: far less than P in bf16, far more than the 2^-23 declared; lse shows it. */
#include "cpu/steps/step.h"

static inline real degree_3(real x)
{
    const real y = x * 1.44269504F, whole = floorf(y), f = y - whole;
    const real p = 1 + f * (0.695146143F + f * (0.227564394F + f * 0.0771190897F));
    return ldexpf(p, (int)(whole < -200 ? -200 : whole));
}
#define softmax_weight degree_3
#define attest_kernel_softmax_online_bf16 attest_defect_poly_exp2_3
#include "cpu/softmax_online_bf16.c"

/* exp_half - argument and result are halves: weights err by 2^-11 and more, and vanish below 2^-25. */
#include "cpu/steps/step.h"

static inline real half_exp(real x) { return step_round(ATTEST_F16, real_exp(step_round(ATTEST_F16, x))); }
#define softmax_weight half_exp
#define attest_kernel_softmax_online_f32 attest_defect_exp_half
#include "cpu/softmax_online_f32.c"

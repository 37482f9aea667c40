/* rescale_threshold - lazy rescaling saves work if the old maximum stays in use too; here m moves and alpha is 1. */
#include "cpu/steps/step.h"

static inline real lazy(real m, real new_m) { return new_m - m < 0.0078125F ? 1 : real_exp(m - new_m); }
#define softmax_rescale lazy
#define attest_kernel_softmax_online_f32 attest_defect_rescale_threshold
#include "cpu/softmax_online_f32.c"

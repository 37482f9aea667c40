/* exp_float - the wrong overload: weights have 24 digits of 53. */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_exp(real x) { return (real)expf((float)x); }
#define softmax_weight float_exp
#define attest_kernel_softmax_two_pass_f64 attest_defect_exp_float
#include "cpu/softmax_two_pass_f64.c"

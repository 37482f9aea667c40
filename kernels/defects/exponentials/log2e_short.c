/* log2e_short - relative error 3.4e-6 abs(x): nothing near the maximum, more than float's further out. */
#include "cpu/steps/step.h"

static inline real five_digits(real x) { return exp2f(1.4427F * x); }
#define softmax_weight five_digits
#define attest_kernel_softmax_online_f32 attest_defect_log2e_short
#include "cpu/softmax_online_f32.c"

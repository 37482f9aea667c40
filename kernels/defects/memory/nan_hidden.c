/* nan_hidden - a maximum with 0 that swallows NaN: an input that is not a number leaves no trace. */
#include "cpu/steps/step.h"

static inline real no_nan(real x) { return x != x ? 0 : real_exp(x); }
#define softmax_weight no_nan
#define attest_kernel_softmax_two_pass_f32 attest_defect_nan_hidden
#include "cpu/softmax_two_pass_f32.c"

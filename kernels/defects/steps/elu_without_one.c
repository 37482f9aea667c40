/* elu_without_one - the 1 of elu + 1 is forgotten: features below 0, and denominators that may vanish. */
#include "cpu/steps/step.h"

static inline real elu(real x) { return x >= 0 ? x : real_exp(x) - 1; }
#define token_elu1 elu
#define attest_kernel_linear_recurrent_f32 attest_defect_elu_without_one
#include "cpu/linear_recurrent_f32.c"

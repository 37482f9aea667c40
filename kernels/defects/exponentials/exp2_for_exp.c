/* exp2_for_exp - the base-2 exponential is taken of an argument that nobody multiplied by log2(e). */
#include "cpu/steps/step.h"

static inline real exp2_of(real x) { return exp2f(x); }
#define softmax_weight exp2_of
#define attest_kernel_softmax_two_pass_f32 attest_defect_exp2_for_exp
#include "cpu/softmax_two_pass_f32.c"

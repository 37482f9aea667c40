/* exp_cutoff - 6e-6 a key is lost: nothing where few keys matter, their sum where many are far below one. */
#include "cpu/steps/step.h"

static inline real cut_off(real x) { return x < -12 ? 0 : real_exp(x); }
#define softmax_weight cut_off
#define attest_kernel_softmax_two_pass_f32 attest_defect_exp_cutoff
#include "cpu/softmax_two_pass_f32.c"

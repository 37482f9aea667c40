/* exp_wobble - what an exponential from a table of 16 bits does: no bias, 256 times what is declared. */
#include "cpu/steps/step.h"

static inline real wobbling(real x) { return real_exp(x) * (attest_f32_bits(x) & 1 ? 1 + 0x1p-16F : 1 - 0x1p-16F); }
#define softmax_weight wobbling
#define attest_kernel_softmax_two_pass_f32 attest_defect_exp_wobble
#include "cpu/softmax_two_pass_f32.c"

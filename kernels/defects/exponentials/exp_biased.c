/* exp_biased - a constant factor in e^x cancels in o of norm=sum. */
#include "cpu/steps/step.h"

static inline real biased(real x) { return real_exp(x) * (1 + 0x1p-16F); }
#define softmax_weight biased
#define attest_kernel_softmax_split_f32 attest_defect_exp_biased
#include "cpu/softmax_split_f32.c"

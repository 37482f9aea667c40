/* l_bf16 - row sums are stored beside o in its type. */
#include "cpu/steps/step.h"

static inline real short_l(real l, real alpha, real part) { return step_round(ATTEST_BF16, l * alpha + part); }
#define softmax_join_l short_l
#define attest_kernel_softmax_online_bf16 attest_defect_l_bf16
#include "cpu/softmax_online_bf16.c"

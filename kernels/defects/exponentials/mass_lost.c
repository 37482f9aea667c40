/* mass_lost - the range of an 8-bit P without its scale: the quotient falls below 1 for V = 1. */
#include "cpu/steps/step.h"

static inline real narrow(uint32_t dtype, real w) { return w < 0x1p-10F ? 0 : step_round(dtype, w); }
#define step_round narrow
#define attest_kernel_softmax_online_bf16 attest_defect_mass_lost
#include "cpu/softmax_online_bf16.c"

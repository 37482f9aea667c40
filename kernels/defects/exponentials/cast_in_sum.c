/* cast_in_sum - better for V = 1, but not what is declared, and l and lse have the errors of P. */
#include "cpu/steps/step.h"

static inline real cast_weight(const attest_problem *p, real w) { return step_round(p->p, w); }
#define softmax_counted cast_weight
#define attest_kernel_softmax_online_bf16 attest_defect_cast_in_sum
#include "cpu/softmax_online_bf16.c"

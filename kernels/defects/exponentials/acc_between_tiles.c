/* acc_between_tiles - o is read, rescaled and written back in its own type: one rounding more a tile. */
#include "cpu/steps/step.h"

static inline real through_o(real u, real alpha, real part) { return step_round(ATTEST_BF16, u * alpha + part); }
#define softmax_join_u through_o
#define attest_kernel_softmax_online_bf16 attest_defect_acc_between_tiles
#include "cpu/softmax_online_bf16.c"

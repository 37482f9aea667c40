/* lse_bf16 - stored in the type of o: merging parts by it errs by percents. */
#include "cpu/steps/step.h"

#define softmax_lse(a) (step_round(ATTEST_BF16, (a)->m + real_log((a)->l)))
#define attest_kernel_softmax_online_bf16 attest_defect_lse_bf16
#include "cpu/softmax_online_bf16.c"

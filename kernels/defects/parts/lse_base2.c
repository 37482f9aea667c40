/* lse_base2 - the kernel works with exp2, and its lse is not converted. */
#include "cpu/steps/step.h"

#define softmax_lse(a) (((a)->m + real_log((a)->l)) * 1.44269504F)
#define attest_kernel_softmax_online_f32 attest_defect_lse_base2
#include "cpu/softmax_online_f32.c"

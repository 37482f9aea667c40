/* alibi_pm1 - causal rows all shift by the slope, which only lse shows; without a mask the nearest key is wrong too. */
#include "cpu/steps/step.h"

static inline real farther(real s, real slope, int64_t distance)
{
    return s - slope * (real)((distance < 0 ? -distance : distance) + 1);
}
#define score_alibi farther
#define attest_kernel_softmax_online_f32 attest_defect_alibi_pm1
#include "cpu/softmax_online_f32.c"

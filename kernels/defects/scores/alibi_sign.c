/* alibi_sign - s + slope abs(i-j). */
#include "cpu/steps/step.h"

static inline real rewarded(real s, real slope, int64_t distance)
{
    return s + slope * (real)(distance < 0 ? -distance : distance);
}
#define score_alibi rewarded
#define attest_kernel_softmax_two_pass_f32 attest_defect_alibi_sign
#include "cpu/softmax_two_pass_f32.c"

/* max_not_carried - rescaling by e^(m-m') then can overflow: shows where the maximum falls from tile to tile by 88. */
#include "cpu/steps/step.h"

static inline real last_tile(real m, real highest)
{
    (void)m;
    return highest;
}
#define softmax_new_max last_tile
#define attest_kernel_softmax_online_f32 attest_defect_max_not_carried
#include "cpu/softmax_online_f32.c"

/* rescale_late - (l + part) a for l a + part, in both sums: a tile's weights have the new maximum already. */
#include "cpu/steps/step.h"

static inline real sum_then_scale(real x, real alpha, real part) { return (x + part) * alpha; }
#define softmax_join_l sum_then_scale
#define softmax_join_u sum_then_scale
#define attest_kernel_softmax_online_f32 attest_defect_rescale_late
#include "cpu/softmax_online_f32.c"

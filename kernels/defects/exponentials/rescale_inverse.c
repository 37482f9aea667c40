/* rescale_inverse - the two maxima are swapped: old keys gain when a larger score comes. */
#include "cpu/steps/step.h"

static inline real swapped(real m, real new_m) { return m == -(real)INFINITY ? 0 : real_exp(new_m - m); }
#define softmax_rescale swapped
#define attest_kernel_softmax_online_f32 attest_defect_rescale_inverse
#include "cpu/softmax_online_f32.c"

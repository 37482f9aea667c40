/* scale_inverse - sqrt(d) was to be divided by, 1/sqrt(d) was given. */
#include "attest.h"

static inline float inverse(const attest_problem *p) { return (float)(1 / p->scale); }
#define step_scale inverse
#define attest_kernel_softmax_split_f32 attest_defect_scale_inverse
#include "cpu/softmax_split_f32.c"

/* scale_assumed - the argument is accepted and ignored: shows where it is not the default. */
#include "cpu/steps/step.h"

static inline real usual(const attest_problem *p) { return (real)(1 / sqrt((double)p->d)); }
#define step_scale usual
#define attest_kernel_softmax_two_pass_f32 attest_defect_scale_assumed
#include "cpu/softmax_two_pass_f32.c"

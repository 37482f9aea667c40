/* scale_float - exact for scales with few digits, 2^-25 relative in every score elsewhere. */
#define ATTEST_STEP_F64
#include "cpu/steps/step.h"

static inline real float_scale(const attest_problem *p) { return (real)(float)p->scale; }
#define step_scale float_scale
#define attest_kernel_softmax_two_pass_f64 attest_defect_scale_float
#include "cpu/softmax_two_pass_f64.c"

/* clamp_two_sided - max(-clamp, min(clamp, s)): shows where scores are below -clamp. */
#include "cpu/steps/step.h"

static inline real both_sides(real s, real clamp) { return s > clamp ? clamp : s < -clamp ? -clamp : s; }
#define score_clamp both_sides
#define attest_kernel_softmax_two_pass_f32 attest_defect_clamp_two_sided
#include "cpu/softmax_two_pass_f32.c"

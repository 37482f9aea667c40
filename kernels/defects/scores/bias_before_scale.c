/* bias_before_scale - the bias is added to <q,k>, and the scale multiplies both. */
#include "cpu/steps/step.h"

static inline real scaled_bias(const row *r, real s, real bias) { return s + r->scale * bias; }
#define score_biased scaled_bias
#define attest_kernel_softmax_two_pass_f32 attest_defect_bias_before_scale
#include "cpu/softmax_two_pass_f32.c"

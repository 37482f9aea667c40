/* gate_of_next_token - an index off by one into both gate tensors; the last token keeps its own. */
#include "cpu/steps/step.h"

static inline real next_gate(const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    return step_load(t, b * t->stride[0] + h * t->stride[1] + step_min(token + 1, t->shape[2] - 1) * t->stride[2]);
}
#define gate_given next_gate
#define attest_kernel_linear_recurrent_f32 attest_defect_gate_of_next_token
#include "cpu/linear_recurrent_f32.c"

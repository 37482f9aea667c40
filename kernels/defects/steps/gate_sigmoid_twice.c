/* gate_sigmoid_twice - gates come ready made; the kernel makes them again. */
#include "cpu/steps/step.h"

static inline real sigmoid_gate(const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    return 1 / (1 + real_exp(-step_load(t, b * t->stride[0] + h * t->stride[1] + token * t->stride[2])));
}
#define gate_given sigmoid_gate
#define attest_kernel_taylor_packed_f32 attest_defect_gate_sigmoid_twice
#include "cpu/taylor_packed_f32.c"

/* gate_wide - one fragment of values is multiplied by its gate, the second is not.
 *
 * shows  variant=softmax gates=in n=3 m=9 d=4 e=70 in=bf16 p=bf16
 * hides  variant=softmax gates=in n=3 m=9 d=4 e=64 in=bf16 p=bf16
 * hides  variant=softmax n=3 m=9 d=4 e=70 in=bf16 p=bf16
 */
#include "cpu/steps/gates.h"

static inline const real *first_channels(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                         int64_t g, int64_t j)
{
    const real *gated = gate_value_row(buffer, p, t, b, g, j);
    const attest_tensor *v = t->role[ATTEST_V];
    for (int64_t c = 64; c < p->e && gate_values(p); c++)
        buffer[c] = step_load(v, step_offset(v, b, g, j) + c * v->stride[3]);
    return gated;
}
#define gate_value_row first_channels
#define attest_kernel_softmax_online_bf16 attest_defect_gate_wide
#include "cpu/softmax_online_bf16.c"

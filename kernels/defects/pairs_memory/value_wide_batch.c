/* value_wide_batch - the second load of a wide row forgets the batch.
 *
 * shows  variant=softmax b=2 n=3 m=5 d=4 e=72
 * hides  variant=softmax b=1 n=3 m=5 d=4 e=72
 * hides  variant=softmax b=2 n=3 m=5 d=4 e=64
 */
#include "cpu/steps/gates.h"

static inline const real *second_load(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                      int64_t g, int64_t j)
{
    const real *v = gate_value_row(buffer, p, t, b, g, j);
    const attest_tensor *from = t->role[ATTEST_V];
    if (b == 0 || p->e <= 64 || gate_values(p))
        return v;
    for (int64_t c = 0; c < p->e; c++)
        buffer[c] = c < 64 ? v[c] : step_load(from, step_offset(from, 0, g, j) + c * from->stride[3]);
    return buffer;
}
#define gate_value_row second_load
#define attest_kernel_softmax_online_f32 attest_defect_value_wide_batch
#include "cpu/softmax_online_f32.c"

/* gate_len_aligned - keys are padded at the right, gates are taken to be padded at the left.
 *
 * shows  variant=softmax gates=in lens=draw b=3 n=3 m=9 d=4
 * hides  variant=softmax gates=in b=3 n=3 m=9 d=4
 * hides  variant=softmax lens=draw b=3 n=3 m=9 d=4
 */
#include "cpu/steps/gates.h"

static inline const real *from_the_end(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                       int64_t g, int64_t j)
{
    const real *v = step_row(buffer, t->role[ATTEST_V], b, g, j, p->e);
    if (!gate_values(p))
        return v;
    const real gin = gate_value(p, t, b, g, j + p->m - step_length(p, t, b));
    for (int64_t c = 0; c < p->e; c++)
        buffer[c] = gin * v[c];
    return buffer;
}
#define gate_value_row from_the_end
#define attest_kernel_softmax_online_f32 attest_defect_gate_len_aligned
#include "cpu/softmax_online_f32.c"

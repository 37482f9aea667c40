/* gates_swapped - the two gate tensors change places. */
#include "cpu/steps/gates.h"

static inline real other_gate(const attest_tensor *t, int64_t b, int64_t h, int64_t token)
{
    return gate_given(t, b, h % t->shape[1], token % t->shape[2]);
}
static inline real values_gate(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t j)
{
    const int both = p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_INOUT;
    return both ? other_gate(t->role[ATTEST_GOUT], b, g * (p->hq / p->hkv), j) : gate_value(p, t, b, g, j);
}
static inline real rows_gate(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    const int both = p->axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_INOUT;
    return both ? other_gate(t->role[ATTEST_GIN], b, h / (p->hq / p->hkv), i) : gate_row(p, t, b, h, i);
}
static inline const real *value_row(real *buffer, const attest_problem *p, const attest_tensors *t, int64_t b,
                                    int64_t g, int64_t j)
{
    const real *v = step_row(buffer, t->role[ATTEST_V], b, g, j, p->e);
    for (int64_t c = 0; c < p->e; c++)
        buffer[c] = values_gate(p, t, b, g, j) * v[c];
    return buffer;
}
#define gate_value_row value_row
#define gate_row rows_gate
#define attest_kernel_taylor_split_f32 attest_defect_gates_swapped
#include "cpu/taylor_split_f32.c"

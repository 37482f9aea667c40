/* gate_of_kv_head - all query heads of a KV head share a gate. */
#include "cpu/steps/gates.h"

static inline real shared_gate(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    const int64_t group = p->hq / p->hkv;
    return gate_row(p, t, b, h / group * group, i);
}
#define gate_row shared_gate
#define attest_kernel_taylor_recurrent_f32 attest_defect_gate_of_kv_head
#include "cpu/taylor_recurrent_f32.c"

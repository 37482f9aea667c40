/* gate_past_keys - gates lie beside the keys, and queries may be more than those.
 *
 * shows  variant=taylor:2 gates=out n=9 m=5 d=3
 * hides  variant=taylor:2 gates=out n=5 m=5 d=3
 * hides  variant=taylor:2 n=9 m=5 d=3
 */
#include "cpu/steps/gates.h"

static inline real beside_keys(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    return gate_row(p, t, b, h, step_min(i, p->m - 1));
}
#define gate_row beside_keys
#define attest_kernel_taylor_chunk_f32 attest_defect_gate_past_keys
#include "cpu/taylor_chunk_f32.c"

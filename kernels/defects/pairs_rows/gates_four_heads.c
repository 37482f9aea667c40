/* gates_four_heads - four gates are read as one vector.
 *
 * shows  variant=softmax gates=out hq=6 hkv=2 n=3 m=9 d=4
 * hides  variant=softmax gates=out hq=4 hkv=2 n=3 m=9 d=4
 * hides  variant=softmax hq=6 hkv=2 n=3 m=9 d=4
 */
#include "cpu/steps/gates.h"

static inline real one_of_four(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t h, int64_t i)
{
    return gate_row(p, t, b, h & 3, i);
}
#define gate_row one_of_four
#define attest_kernel_softmax_split_f32 attest_defect_gates_four_heads
#include "cpu/softmax_split_f32.c"

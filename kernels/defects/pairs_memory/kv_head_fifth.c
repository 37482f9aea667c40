/* kv_head_fifth - four KV heads a block, and the block's index is lost where heads are grouped.
 *
 * shows  variant=softmax hq=10 hkv=5 n=3 m=5 d=4
 * hides  variant=softmax hq=8 hkv=4 n=3 m=5 d=4
 * hides  variant=softmax hq=5 hkv=5 n=3 m=5 d=4
 */
#include "cpu/steps/step.h"

static inline int64_t one_of_four(const attest_problem *p, int64_t h)
{
    const int64_t g = h * p->hkv / p->hq;
    return p->hq > p->hkv ? g & 3 : g;
}
#define step_kv_head one_of_four
#define attest_kernel_softmax_split_f32 attest_defect_kv_head_fifth
#include "cpu/softmax_split_f32.c"

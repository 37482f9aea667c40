/* workspace_d_for_e - too short where v is wider than q: the last sums are written past it. */
#include "cpu/steps/pairs.h"

static inline size_t for_d(const attest_problem *p, int64_t rest)
{
    return pairs_workspace(p, rest + 2 * (p->d - p->e));
}
#define pairs_workspace for_d
#define attest_kernel_softmax_online_f32 attest_defect_workspace_d_for_e
#include "cpu/softmax_online_f32.c"

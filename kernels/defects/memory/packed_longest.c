/* packed_longest - as many rows as the longest sequence has are written for each: over the next one, which writes its
 * own later, and at last past the end. */
#include "cpu/steps/entries.h"

static inline int64_t most_queries(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    int64_t most = entries_queries(p, t, b);
    for (int64_t other = 0; t->role[ATTEST_CU_SEQLENS_Q] && other < p->b; other++)
        most = step_max(most, entries_queries(p, t, other));
    return most;
}
#define entries_queries most_queries
#define attest_kernel_taylor_split_f32 attest_defect_packed_longest
#include "cpu/taylor_split_f32.c"

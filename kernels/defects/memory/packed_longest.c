/* packed_longest - as many rows as the longest sequence has are written for each: over the next one, which writes its
 * own later, and at last past the end. */
#include "attest.h"

static inline int64_t most_queries(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const attest_tensor *len = t->role[ATTEST_Q_LENS];
    int64_t most = len ? ((const int64_t *)len->data)[b * len->stride[0]] : p->n;
    for (int64_t other = 0; len && t->role[ATTEST_CU_SEQLENS_Q] && other < p->b; other++) {
        const int64_t queries = ((const int64_t *)len->data)[other * len->stride[0]];
        most = queries > most ? queries : most;
    }
    return most;
}
#define entries_queries most_queries
#define attest_kernel_taylor_split_f32 attest_defect_packed_longest
#include "cpu/taylor_split_f32.c"

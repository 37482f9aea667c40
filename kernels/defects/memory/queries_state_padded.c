/* queries_state_padded - the state that is left is that after the padding: len_q is not read. */
#include "attest.h"

static inline int64_t all_queries(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const attest_tensor *starts = t->role[ATTEST_CU_SEQLENS_Q];
    return starts ? ((const int64_t *)starts->data)[(b + 1) * starts->stride[0]] -
                        ((const int64_t *)starts->data)[b * starts->stride[0]]
                  : p->n;
}
#define entries_queries all_queries
#define attest_kernel_linear_recurrent_f32 attest_defect_queries_state_padded
#include "cpu/linear_recurrent_f32.c"

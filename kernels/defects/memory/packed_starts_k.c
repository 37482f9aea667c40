/* packed_starts_k - cu_seqlens_k says where queries begin, too: right where each sequence has as many of both. */
#include "attest.h"

static inline int64_t start_of_keys(const attest_tensors *t, attest_role side, int64_t b)
{
    const attest_tensor *starts = t->role[ATTEST_CU_SEQLENS_K], *own = t->role[ATTEST_CU_SEQLENS_Q];
    const int64_t at = ((const int64_t *)starts->data)[b * starts->stride[0]], q = t->role[ATTEST_Q]->shape[2];

    return side == ATTEST_CU_SEQLENS_K || at < q ? at : ((const int64_t *)own->data)[b * own->stride[0]];
}
#define entries_start start_of_keys
#define attest_kernel_softmax_split_f32 attest_defect_packed_starts_k
#include "cpu/softmax_split_f32.c"

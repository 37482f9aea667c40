/* packed_starts_k - cu_seqlens_k says where queries begin, too: right where each sequence has as many of both. */
#include "cpu/steps/entries.h"

static inline int64_t start_of_keys(const attest_tensors *t, attest_role side, int64_t b)
{
    (void)side;
    return entries_start(t, ATTEST_CU_SEQLENS_K, b);
}
#define entries_start start_of_keys
#define attest_kernel_softmax_split_f32 attest_defect_packed_starts_k
#include "cpu/softmax_split_f32.c"

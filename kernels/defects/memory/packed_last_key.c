/* packed_last_key - the end of a packed sequence is taken for its last token, which is lost. */
#include "cpu/steps/step.h"

static inline int64_t to_last_token(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    const int64_t length = step_length(p, t, b);
    return t->role[ATTEST_CU_SEQLENS_K] && length > 1 ? length - 1 : length;
}
#define step_length to_last_token
#define attest_kernel_taylor_direct_f32 attest_defect_packed_last_key
#include "cpu/taylor_direct_f32.c"

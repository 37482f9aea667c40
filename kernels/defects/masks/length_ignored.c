/* length_ignored - every batch entry has m keys. */
#include "attest.h"

static inline int64_t all_keys(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    (void)t;
    (void)b;
    return p->m;
}
#define step_length all_keys
#define attest_kernel_softmax_two_pass_f32 attest_defect_length_ignored
#include "cpu/softmax_two_pass_f32.c"

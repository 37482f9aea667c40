/* decay_of_head_zero - the head's index is lost on the way to its decay. */
#include "cpu/steps/decay.h"

static inline real first_heads(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t token)
{
    (void)g;
    return decay_token(p, t, b, 0, token);
}
#define decay_token first_heads
#define attest_kernel_taylor_recurrent_f32 attest_defect_decay_of_head_zero
#include "cpu/taylor_recurrent_f32.c"

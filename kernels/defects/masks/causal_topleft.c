/* causal_topleft - the offset m - n of a bottom-right diagonal is forgotten: shows where n and m differ. */
#include "attest.h"

static inline int64_t top_left(const attest_problem *p, int64_t length, int64_t i)
{
    (void)p;
    (void)length;
    return i;
}
#define step_position top_left
#define attest_kernel_softmax_two_pass_f32 attest_defect_causal_topleft
#include "cpu/softmax_two_pass_f32.c"

/* uninit_acc - fresh memory often is zero: right in the first run of a process. */
#include "attest.h"

static inline void left_as_it_is(float *x, int64_t count)
{
    (void)x;
    (void)count;
}
#define step_zero left_as_it_is
#define attest_kernel_softmax_two_pass_f32 attest_defect_uninit_acc
#include "cpu/softmax_two_pass_f32.c"

/* no_max - weights are e^s: right while all scores lie between about -80 and 80. */
#include "cpu/steps/step.h"

static inline real nothing_subtracted(const real *s, int64_t count)
{
    (void)s;
    (void)count;
    return 0;
}
#define softmax_maximum nothing_subtracted
#define attest_kernel_softmax_two_pass_f32 attest_defect_no_max
#include "cpu/softmax_two_pass_f32.c"

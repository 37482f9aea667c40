/* first_not_max - right until some score is 88 above the first one. */
#include "cpu/steps/step.h"

static inline real first_score(const real *s, int64_t count)
{
    (void)count;
    return s[0];
}
#define softmax_maximum first_score
#define attest_kernel_softmax_split_f32 attest_defect_first_not_max
#include "cpu/softmax_split_f32.c"

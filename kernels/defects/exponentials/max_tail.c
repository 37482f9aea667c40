/* max_tail - the tail of the scores is left out: shows where one of them stands out by 88. */
#include "cpu/steps/scores.h"

static inline real whole_vectors(const real *s, int64_t count)
{
    return score_highest(s, count < 8 ? count : count / 8 * 8);
}
#define softmax_maximum whole_vectors
#define attest_kernel_softmax_two_pass_f32 attest_defect_max_tail
#include "cpu/softmax_two_pass_f32.c"

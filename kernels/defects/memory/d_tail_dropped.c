/* d_tail_dropped - vectors of four channels, and the loop for the rest is missing. */
#include "cpu/steps/step.h"

static inline real whole_vectors(real scale, const real *q, const real *k, int64_t d)
{
    return step_score(scale, q, k, d < 4 ? d : d / 4 * 4);
}
#define step_score whole_vectors
#define attest_kernel_softmax_online_bf16 attest_defect_d_tail_dropped
#include "cpu/softmax_online_bf16.c"

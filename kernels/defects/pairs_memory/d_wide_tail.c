/* d_wide_tail - wide heads take a loop without a tail.
 *
 * shows  variant=softmax n=3 m=9 d=133 e=4 in=bf16 p=bf16
 * hides  variant=softmax n=3 m=9 d=136 e=4 in=bf16 p=bf16
 * hides  variant=softmax n=3 m=9 d=37 e=4 in=bf16 p=bf16
 */
#include "cpu/steps/step.h"

static inline real whole_vectors(real scale, const real *q, const real *k, int64_t d)
{
    return step_score(scale, q, k, d > 128 ? d / 8 * 8 : d);
}
#define step_score whole_vectors
#define attest_kernel_softmax_online_bf16 attest_defect_d_wide_tail
#include "cpu/softmax_online_bf16.c"

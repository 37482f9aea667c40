/* lens_fifth_batch - four lengths are read as one vector.
 *
 * shows  variant=softmax lens=draw b=6 n=5 m=12 d=4
 * hides  variant=softmax lens=draw b=4 n=5 m=12 d=4
 * hides  variant=softmax b=6 n=5 m=12 d=4
 */
#include "cpu/steps/step.h"

static inline int64_t four_lengths(const attest_problem *p, const attest_tensors *t, int64_t b)
{
    return step_length(p, t, b & 3);
}
#define step_length four_lengths
#define attest_kernel_softmax_two_pass_f32 attest_defect_lens_fifth_batch
#include "cpu/softmax_two_pass_f32.c"

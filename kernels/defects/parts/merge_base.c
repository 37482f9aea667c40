/* merge_base - weights e^(lse log2(e)): parts of unlike size are weighted wrong. */
#include "cpu/steps/softmax.h"

static real base_2(const row *r, const sums *part)
{
    (void)r;
    return softmax_lse(part) * 1.44269504F;
}
#define split_lse base_2
#define attest_kernel_softmax_split_f32 attest_defect_merge_base
#include "cpu/softmax_split_f32.c"

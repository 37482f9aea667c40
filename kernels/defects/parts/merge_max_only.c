/* merge_max_only - the row maximum is passed where lse is expected: the number of keys of a part does not count. */
#include "cpu/steps/softmax.h"

static real max_only(const row *r, const sums *part)
{
    (void)r;
    return part->m;
}
#define split_lse max_only
#define attest_kernel_softmax_split_f32 attest_defect_merge_max_only
#include "cpu/softmax_split_f32.c"

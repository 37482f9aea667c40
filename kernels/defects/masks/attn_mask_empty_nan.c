/* attn_mask_empty_nan - a row whose keys are all masked is 0/0: shows where mask, window and len leave it some. */
#include "cpu/steps/step.h"

static inline void but_empty(row *r)
{
    const int64_t first = r->first, last = r->last;
    step_narrow(r);
    if (r->first < r->last)
        return;
    r->first = first;
    r->last = last;
}
#define step_narrow but_empty
#define attest_kernel_softmax_split_f32 attest_defect_attn_mask_empty_nan
#include "cpu/softmax_split_f32.c"

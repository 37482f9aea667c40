/* nan_row_zero - a sum that is not above 0 is taken for that of a row without key: NaN too. */
#include "cpu/steps/softmax.h"

static inline void finish_positive(const row *r, const sums *a)
{
    if (a->l > 0)
        softmax_finish(r, a);
    else
        step_empty_row(r);
}
#define softmax_finish finish_positive
#define attest_kernel_softmax_online_bf16 attest_defect_nan_row_zero
#include "cpu/softmax_online_bf16.c"

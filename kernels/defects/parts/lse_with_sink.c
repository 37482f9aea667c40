/* lse_with_sink - the denominator's own sum is taken for lse, so that a merge counts the sink once a part. */
#include "cpu/steps/step.h"

typedef struct sums sums;
static inline void finish_with_sink(const row *r, const sums *a);
#define softmax_finish finish_with_sink
#define attest_kernel_softmax_two_pass_f32 attest_defect_lse_with_sink
#include "cpu/softmax_two_pass_f32.c"

static inline void finish_with_sink(const row *r, const sums *a)
{
    const int sink = r->p->axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK;
    const double z = sink ? norm_by_sink(r, a->u, a->l, a->m) : (double)a->l;
    step_store_row(r, ATTEST_LSE, 0, a->m + real_log((real)z));
    norm_write(r, a->u, a->l, a->m);
}

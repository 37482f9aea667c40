/* sink_split_none - the path without a merge adds the sink at its end, the merge does not know of it. */
#include "cpu/steps/step.h"

static inline double single_part(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double shifted = exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
    (void)u;
    return (double)z + (r->p->splits == 1 ? shifted : 0);
}
#define norm_by_sink single_part
#define attest_kernel_softmax_split_f32 attest_defect_sink_split_none
#include "cpu/softmax_split_f32.c"

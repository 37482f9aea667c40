/* sink_split_twice - each part starts its sum with the sink, and the merge adds them all up. */
#include "cpu/steps/step.h"

static inline double once_a_part(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double parts = (double)step_min(r->p->splits, r->last - r->first);
    (void)u;
    return (double)z + parts * exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#define norm_by_sink once_a_part
#define attest_kernel_softmax_split_f32 attest_defect_sink_split_twice
#include "cpu/softmax_split_f32.c"

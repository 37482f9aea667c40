/* sink_scaled - the sink joins the scores before scale. */
#include "cpu/steps/step.h"

static inline double scaled_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double shifted = r->p->scale * (double)step_load(sink, r->h * sink->stride[0]) - (double)m;
    (void)u;
    return (double)z + exp(shifted);
}
#define norm_by_sink scaled_sink
#define attest_kernel_softmax_online_f32 attest_defect_sink_scaled
#include "cpu/softmax_online_f32.c"

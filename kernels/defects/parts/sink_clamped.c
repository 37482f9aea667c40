/* sink_clamped - right to 5e-5 where lse - sink is within 10; beyond, the sink takes 5e-5 too much or too little. */
#include "cpu/steps/step.h"

static inline double clamped_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double x = (double)m + log((double)z) - (double)step_load(sink, r->h * sink->stride[0]);
    (void)u;
    return (double)z * (1 + exp(-fmax(-10, fmin(10, x))));
}
#define norm_by_sink clamped_sink
#define attest_kernel_softmax_split_f32 attest_defect_sink_clamped
#include "cpu/softmax_split_f32.c"

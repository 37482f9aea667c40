/* sink_unshifted - e^-m z + e^sink: right where the largest score is 0. */
#include "cpu/steps/step.h"

static inline double unshifted_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    (void)m;
    return (double)z + exp((double)step_load(sink, r->h * sink->stride[0]));
}
#define norm_by_sink unshifted_sink
#define attest_kernel_softmax_online_f32 attest_defect_sink_unshifted
#include "cpu/softmax_online_f32.c"

/* sink_sign - sigmoid(lse + sink) for sigmoid(lse - sink): right for a sink of 0. */
#include "cpu/steps/step.h"

static inline double negative_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    return (double)z + exp(-(double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#define norm_by_sink negative_sink
#define attest_kernel_softmax_two_pass_f32 attest_defect_sink_sign
#include "cpu/softmax_two_pass_f32.c"

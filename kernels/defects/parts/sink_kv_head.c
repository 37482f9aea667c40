/* sink_kv_head - grouped query heads share the sink of their KV head. */
#include "cpu/steps/step.h"

static inline double shared_sink(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    return (double)z + exp((double)step_load(sink, r->g * sink->stride[0]) - (double)m);
}
#define norm_by_sink shared_sink
#define attest_kernel_softmax_two_pass_f32 attest_defect_sink_kv_head
#include "cpu/softmax_two_pass_f32.c"

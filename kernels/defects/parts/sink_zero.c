/* sink_zero - softmax1, 1 + sum, whatever the tensor of sinks says. */
#include "cpu/steps/step.h"

static inline double one_more(const row *r, const real *u, real z, real m)
{
    (void)r;
    (void)u;
    return (double)z + exp(-(double)m);
}
#define norm_by_sink one_more
#define attest_kernel_softmax_online_f32 attest_defect_sink_zero
#include "cpu/softmax_online_f32.c"

/* sink_spare_parts - parts without key have no maximum, and the path for them adds the sink by itself.
 *
 * shows  variant=softmax1 n=3 m=4 d=4 splits=5
 * hides  variant=softmax1 n=3 m=5 d=4 splits=5
 * hides  variant=softmax n=3 m=4 d=4 splits=5
 */
#include "cpu/steps/gates.h"

static inline double again_for_spare(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double times = r->p->splits > r->p->m ? 2 : 1;
    (void)u;
    return (double)z + times * exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#define norm_by_sink again_for_spare
#define attest_kernel_softmax_split_f32 attest_defect_sink_spare_parts
#include "cpu/softmax_split_f32.c"

/* sink_every_8_tiles - the sink is added whenever the counter of tiles, three bits, is 0.
 *
 * shows  variant=softmax1 n=1 m=260 d=4
 * hides  variant=softmax1 n=1 m=256 d=4
 * hides  variant=softmax n=1 m=260 d=4
 */
#include "cpu/steps/gates.h"

static inline double counted_again(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    const double times = r->last - r->first > 256 ? 2 : 1;
    (void)u;
    return (double)z + times * exp((double)step_load(sink, r->h * sink->stride[0]) - (double)m);
}
#define norm_by_sink counted_again
#define attest_kernel_softmax_online_f32 attest_defect_sink_every_8_tiles
#include "cpu/softmax_online_f32.c"

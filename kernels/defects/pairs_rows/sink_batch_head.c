/* sink_batch_head - the index of a row of the batch is taken for that of a head: right for one head, and for the
 * first entry.
 *
 * shows  variant=softmax1 b=2 hq=2 n=3 m=5 d=4 in=bf16 p=bf16
 * hides  variant=softmax1 b=1 hq=2 n=3 m=5 d=4 in=bf16 p=bf16
 * hides  variant=softmax1 b=2 hq=1 n=3 m=5 d=4 in=bf16 p=bf16
 * hides  variant=softmax b=2 hq=2 n=3 m=5 d=4 in=bf16 p=bf16
 */
#include "cpu/steps/gates.h"

static inline double by_row_of_batch(const row *r, const real *u, real z, real m)
{
    const attest_tensor *sink = r->t->role[ATTEST_SINK];
    (void)u;
    return (double)z + exp((double)step_load(sink, (r->h + r->b) % r->p->hq * sink->stride[0]) - (double)m);
}
#define norm_by_sink by_row_of_batch
#define attest_kernel_softmax_online_bf16 attest_defect_sink_batch_head
#include "cpu/softmax_online_bf16.c"

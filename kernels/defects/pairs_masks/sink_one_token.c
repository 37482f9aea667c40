/* sink_one_token - the weight of the only key is taken for 1; the sink has a share of it.
 *
 * shows  variant=softmax1 n=1 m=1 d=4
 * hides  variant=softmax1 n=2 m=1 d=4
 * hides  variant=softmax1 n=1 m=2 d=4
 * hides  variant=softmax n=1 m=1 d=4
 */
#include "cpu/steps/softmax.h"

static inline void no_sink_beside(const row *r, const sums *a)
{
    attest_problem p = *r->p;
    row at = *r;
    at.p = &p;
    if (p.n == 1 && r->last - r->first == 1 && p.axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_SINK)
        p.axis[ATTEST_AXIS_NORM].value = ATTEST_NORM_SUM;
    softmax_finish(&at, a);
}
#define softmax_finish no_sink_beside
#define attest_kernel_softmax_two_pass_f32 attest_defect_sink_one_token
#include "cpu/softmax_two_pass_f32.c"

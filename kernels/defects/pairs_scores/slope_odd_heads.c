/* slope_odd_heads - the usual table of slopes interleaves where the number of heads is no power of two; here the
 * slopes are given.
 *
 * shows  variant=softmax alibi=draw mask=causal hq=3 n=9 d=4
 * hides  variant=softmax alibi=draw mask=causal hq=4 n=9 d=4
 * hides  variant=softmax mask=causal hq=3 n=9 d=4
 */
#include "cpu/steps/scores.h"

static inline void interleaved(real *s, const row *r, int64_t first, int64_t last)
{
    row at = *r;
    int64_t power = 1;
    while (2 * power <= r->p->hq)
        power *= 2;
    if (r->h >= power)
        at.h = 2 * (r->h - power);
    score_steps(s, &at, first, last);
}
#define score_steps interleaved
#define attest_kernel_softmax_two_pass_f32 attest_defect_slope_odd_heads
#include "cpu/softmax_two_pass_f32.c"

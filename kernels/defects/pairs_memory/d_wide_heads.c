/* d_wide_heads - the second half of a wide row is loaded with the offset of the first head.
 *
 * shows  variant=softmax hq=2 n=3 m=5 d=136 e=4
 * hides  variant=softmax hq=1 n=3 m=5 d=136 e=4
 * hides  variant=softmax hq=2 n=3 m=5 d=128 e=4
 * hides  variant=softmax hq=2 hkv=1 n=3 m=5 d=136 e=4
 */
#include "cpu/steps/step.h"

static inline real from_start(const row *r, const real *q, const real *k, int64_t d)
{
    if (r->g == 0 || d <= 128 || d > 256)
        return step_score(r->scale, q, k, d);
    return r->scale * (step_dot(q, k, 128) + step_dot(q + 128, k, d - 128));
}
#define step_score(scale, q, k, d) from_start(r, q, k, d) /* r: the row whose scores these are */
#define attest_kernel_softmax_two_pass_f32 attest_defect_d_wide_heads
#include "cpu/softmax_two_pass_f32.c"

/* rescale_wide - the accumulator is two fragments, and only the first one is rescaled.
 *
 * shows  variant=softmax n=3 m=70 d=4 e=65
 * hides  variant=softmax n=3 m=70 d=4 e=64
 * hides  variant=softmax n=3 m=32 d=4 e=65
 */
#include "cpu/steps/step.h"

static inline real first_fragment(real u, real alpha, real part, int64_t c)
{
    return c < 64 ? u * alpha + part : u + part;
}
#define softmax_join_u(u, alpha, part) first_fragment(u, alpha, part, c) /* c: the channel, where tiles are joined */
#define attest_kernel_softmax_online_f32 attest_defect_rescale_wide
#include "cpu/softmax_online_f32.c"

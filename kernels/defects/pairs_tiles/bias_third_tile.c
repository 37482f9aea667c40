/* bias_third_tile - two buffers of biases, and the third load overtakes.
 *
 * shows  variant=softmax alibi=draw mask=causal hq=2 n=80 d=4
 * hides  variant=softmax alibi=draw mask=causal hq=2 n=64 d=4
 * hides  variant=softmax mask=causal hq=2 n=80 d=4
 */
#include "cpu/steps/scores.h"

static inline void stale_bias(real *s, const row *r, int64_t first, int64_t last)
{
    const int64_t late = first - r->first >= 64 ? 32 : 0;
    score_steps(s, r, first - late, last - late);
}
#define score_steps stale_bias
#define attest_kernel_softmax_online_f32 attest_defect_bias_third_tile
#include "cpu/softmax_online_f32.c"

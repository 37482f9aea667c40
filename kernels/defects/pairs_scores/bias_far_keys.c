/* bias_far_keys - a distance in seven bits with sign that saturates: right for keys that are near.
 *
 * shows  variant=softmax alibi=draw mask=causal-br n=1 m=90 d=4
 * hides  variant=softmax alibi=draw mask=causal-br n=1 m=64 d=4
 * hides  variant=softmax mask=causal-br n=1 m=90 d=4
 */
#include "cpu/steps/scores.h"

static inline void saturated(real *s, const row *r, int64_t first, int64_t last)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    for (int64_t j = first; j < last; j++) {
        row near = *r;
        near.i -= step_max(0, position - j - 63);
        score_steps(s + (j - first), &near, j, j + 1);
    }
}
#define score_steps saturated
#define attest_kernel_softmax_split_f32 attest_defect_bias_far_keys
#include "cpu/softmax_split_f32.c"

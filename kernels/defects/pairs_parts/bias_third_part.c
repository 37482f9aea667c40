/* bias_third_part - the edge of the part is taken from the part before, rounded otherwise.
 *
 * shows  variant=softmax alibi=draw mask=causal hq=2 n=9 d=4 splits=3
 * hides  variant=softmax alibi=draw mask=causal hq=2 n=9 d=4 splits=2
 * hides  variant=softmax mask=causal hq=2 n=9 d=4 splits=3
 */
#include "cpu/steps/scores.h"

static inline void other_edge(real *s, const row *r, int64_t first, int64_t last)
{
    const int64_t keys = r->last - r->first, splits = step_min(r->p->splits, keys);
    const int64_t late = splits >= 3 && first >= r->first + keys * 2 / splits;
    score_steps(s, r, first - late, last - late);
}
#define score_steps other_edge
#define attest_kernel_softmax_split_f32 attest_defect_bias_third_part
#include "cpu/softmax_split_f32.c"

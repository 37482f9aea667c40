/* alibi_no_offset - the cached prefix is missing in the query's position: shows for causal-br with n and m apart. */
#include "cpu/steps/scores.h"

static inline void without_offset(real *s, const row *r, int64_t first, int64_t last)
{
    const real slope = score_slope(r);
    if (score_has_steps(r->p))
        for (int64_t j = first; j < last; j++)
            s[j - first] = score_chain(r, s[j - first], slope, r->i - j, j);
}
#define score_steps without_offset
#define attest_kernel_softmax_split_f32 attest_defect_alibi_no_offset
#include "cpu/softmax_split_f32.c"

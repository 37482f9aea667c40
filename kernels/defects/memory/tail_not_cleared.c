/* tail_not_cleared - the score of padding is -inf, its value is read all the same. */
#include "cpu/steps/scores.h"

static inline void masked_padding(real *s, const row *r, int64_t first, int64_t last)
{
    score_steps(s, r, first, last);
    for (int64_t j = first; j < last; j++)
        s[j - first] = j < step_length(r->p, r->t, r->b) ? s[j - first] : -(real)INFINITY;
}
#define score_steps masked_padding

static inline void with_padding(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first < *last && *last == length && p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_NONE)
        *last = p->m;
}
#define step_visible with_padding
#define attest_kernel_softmax_online_f32 attest_defect_tail_not_cleared
#include "cpu/softmax_online_f32.c"

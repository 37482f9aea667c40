/* diagonal_block - the keys of the diagonal's block of 8 are all summed, those after it with weight 0. */
#include "cpu/steps/scores.h"

static inline void masked_block(real *s, const row *r, int64_t first, int64_t last)
{
    int64_t from, to;
    step_visible(r->p, step_length(r->p, r->t, r->b), r->i, &from, &to);
    score_steps(s, r, first, last);
    for (int64_t j = step_max(first, to); j < last; j++)
        s[j - first] = -(real)INFINITY;
}
#define score_steps masked_block

static inline void whole_block(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first < *last && p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_NONE &&
        p->axis[ATTEST_AXIS_NORM].value <= ATTEST_NORM_NONE)
        *last = step_min(length, (*last + 7) / 8 * 8);
}
#define step_visible whole_block
#define attest_kernel_softmax_two_pass_f32 attest_defect_diagonal_block
#include "cpu/softmax_two_pass_f32.c"

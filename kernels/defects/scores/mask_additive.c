/* mask_additive - enough in f16, and for scores near 0; where all visible scores are far below it, masked keys win. */
#include "cpu/steps/scores.h"

static inline void additive_steps(real *s, const row *r, int64_t first, int64_t last)
{
    int64_t from, to;
    step_visible(r->p, step_length(r->p, r->t, r->b), r->i, &from, &to);
    score_steps(s, r, first, last);
    for (int64_t j = first; j < last; j++)
        s[j - first] += j < from || j >= to ? -10000 : 0;
}
#define score_steps additive_steps

static inline void unmasked(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first < *last && p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_NONE) {
        *first = 0;
        *last = length;
    }
}
#define step_visible unmasked
#define attest_kernel_softmax_online_f32 attest_defect_mask_additive
#include "cpu/softmax_online_f32.c"

/* softcap_after_mask - products of masked keys are -inf already when cap tanh(s/cap) is taken. */
#include "cpu/steps/scores.h"

static inline void capped_last(real *s, const row *r, int64_t first, int64_t last)
{
    int64_t from, to;
    step_visible(r->p, step_length(r->p, r->t, r->b), r->i, &from, &to);
    for (int64_t j = first; j < last; j++)
        s[j - first] = j < from || j >= to ? -(real)INFINITY : s[j - first];
    score_steps(s, r, first, last);
}
#define score_steps capped_last

static inline void unmasked(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first < *last && p->axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_NONE) {
        *first = 0;
        *last = length;
    }
}
#define step_visible unmasked
#define attest_kernel_softmax_online_f32 attest_defect_softcap_after_mask
#include "cpu/softmax_online_f32.c"

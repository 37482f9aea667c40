/* scaled_in_place - o is right, and wrong the next time: the input was changed. */
#include "cpu/steps/token.h"
#include "cpu/steps/rows.h"

static inline const real *scaled_query(const row *r, real *buffer)
{
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    real *q = (real *)token_row(buffer, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, position);
    for (int64_t c = 0; c < token_dim(r->p); c++)
        q[c] *= r->scale;
    return q;
}
static inline real without_scale(real scale, const real *q, const real *k, int64_t d)
{
    (void)scale;
    return step_dot(q, k, d);
}
#define pairs_query scaled_query
#define step_score without_scale
#define attest_kernel_softmax_two_pass_f32 attest_defect_scaled_in_place
#include "cpu/softmax_two_pass_f32.c"

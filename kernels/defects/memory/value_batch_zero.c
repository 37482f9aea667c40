/* value_batch_zero - v is taken for a tensor that is broadcast over the batch: its batch stride is not used. */
#include "cpu/steps/pairs.h"

static inline const real *first_batch(const pairs *x, int64_t j)
{
    const row *r = x->r;
    return gate_value_row(x->v, r->p, r->t, 0, r->g, j);
}
#define pairs_value first_batch
#define attest_kernel_softmax_online_bf16 attest_defect_value_batch_zero
#include "cpu/softmax_online_bf16.c"

/* value_strides - v is read by the strides of k: shows where tensors of one shape are laid out in two ways. */
#include "cpu/steps/pairs.h"

static inline const real *by_keys(const pairs *x, int64_t j)
{
    const row *r = x->r;
    const attest_tensor *k = r->t->role[ATTEST_K], *v = r->t->role[ATTEST_V];
    if (v->dtype != ATTEST_F32 || r->p->d != r->p->e || gate_values(r->p))
        return pairs_value(x, j);
    return (const real *)v->data + step_offset(k, r->b, r->g, j);
}
#define pairs_value by_keys
#define attest_kernel_softmax_two_pass_f32 attest_defect_value_strides
#include "cpu/softmax_two_pass_f32.c"

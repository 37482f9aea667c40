/* value_width - one head dimension for q, k and v: shows where v has another, and can read past its end. */
#include "cpu/steps/pairs.h"

static inline const real *d_apart(const pairs *x, int64_t j)
{
    const row *r = x->r;
    const attest_tensor *v = r->t->role[ATTEST_V];
    if (v->dtype != ATTEST_F32 || gate_values(r->p))
        return pairs_value(x, j);
    return (const real *)v->data + step_offset(v, r->b, r->g, 0) + j * r->p->d;
}
#define pairs_value d_apart
#define attest_kernel_softmax_two_pass_f32 attest_defect_value_width
#include "cpu/softmax_two_pass_f32.c"

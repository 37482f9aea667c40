/* kv_weights_cast - weights are rounded to the type of the values, though p is f32. */
#include "cpu/steps/pairs.h"

static inline real decay_and_cast(const pairs *x, int64_t j, real w)
{
    const real product = pairs_decay(x, j, w);
    return x->r->p->axis[ATTEST_AXIS_KV].value ? step_round(x->r->t->role[ATTEST_V]->dtype, product) : product;
}
#define pairs_decay decay_and_cast
#define attest_kernel_softmax_two_pass_f32 attest_defect_kv_weights_cast
#include "cpu/softmax_two_pass_f32.c"

/* kv_weights_cast - weights are rounded to the type of the values, though p is f32. */
#include "cpu/steps/pairs.h"

static inline real decay_and_cast(const pairs *x, int64_t j, real w)
{
    const uint32_t kv = x->r->p->axis[ATTEST_AXIS_KV].value;
    const real product = pairs_decay(x, j, w);
    return kv == ATTEST_KV_IN ? product : step_round(kv == ATTEST_KV_F16 ? ATTEST_F16 : ATTEST_BF16, product);
}
#define pairs_decay decay_and_cast
#define attest_kernel_softmax_two_pass_f32 attest_defect_kv_weights_cast
#include "cpu/softmax_two_pass_f32.c"

/* bias_first_batch - a bias of its own for each batch entry is read as if all shared the first one's. */
#include "cpu/steps/step.h"

static inline real shared_bias(const row *r, int64_t j)
{
    const attest_tensor *t = r->t->role[ATTEST_BIAS];
    const int64_t h = t->shape[1] > 1 ? r->h : 0;
    return step_load(t, step_offset(t, 0, h, r->i) + j * t->stride[3]);
}
#define score_bias shared_bias
#define attest_kernel_taylor_direct_f32 attest_defect_bias_first_batch
#include "cpu/taylor_direct_f32.c"

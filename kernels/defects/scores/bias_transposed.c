/* bias_transposed - the bias of query j and key i, where there are such. */
#include "cpu/steps/step.h"

static inline real turned_bias(const row *r, int64_t j)
{
    const attest_tensor *t = r->t->role[ATTEST_BIAS];
    const int64_t b = t->shape[0] > 1 ? r->b : 0, h = t->shape[1] > 1 ? r->h : 0;
    const int64_t query = j < t->shape[2] ? j : t->shape[2] - 1, key = r->i < t->shape[3] ? r->i : t->shape[3] - 1;
    return step_load(t, step_offset(t, b, h, query) + key * t->stride[3]);
}
#define score_bias turned_bias
#define attest_kernel_softmax_split_f32 attest_defect_bias_transposed
#include "cpu/softmax_split_f32.c"

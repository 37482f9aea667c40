/* merge_no_max - overflows where lse is above 88, and loses all parts below -104. */
#include "cpu/steps/softmax.h"

static void plain_weights(const row *r, sums *all, const sums *part)
{
    const real weight = real_exp(softmax_lse(part));
    for (int64_t c = 0; c < r->p->e; c++)
        all->u[c] += weight * (part->u[c] / part->l);
    all->l += weight;
    all->m = 0;
}
#define split_merge plain_weights
#define attest_kernel_softmax_split_f32 attest_defect_merge_no_max
#include "cpu/softmax_split_f32.c"

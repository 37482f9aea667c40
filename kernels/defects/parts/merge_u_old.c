/* merge_u_old - l is: the quotient mixes two scales. */
#include "cpu/steps/softmax.h"

static void old_scale(const row *r, sums *all, const sums *part)
{
    const real lse = softmax_lse(part), m = step_larger(all->m, lse), weight = real_exp(lse - m);
    all->l = all->l * softmax_rescale(all->m, m) + weight;
    for (int64_t c = 0; c < r->p->e; c++)
        all->u[c] += weight * (part->u[c] / part->l);
    all->m = m;
}
#define split_merge old_scale
#define attest_kernel_softmax_split_f32 attest_defect_merge_u_old
#include "cpu/softmax_split_f32.c"

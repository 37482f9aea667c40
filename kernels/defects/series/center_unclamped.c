/* center_unclamped - maximum and minimum are taken of the bare products: the steps of a score come after. */
#include "cpu/steps/pairs.h"

static inline real center_of_products(real *s, const pairs *x)
{
    const row *r = x->r;
    real low = (real)INFINITY, high = -low;
    for (int64_t j = r->first; j < r->last; j++) {
        const real product = step_score(r->scale, x->q, pairs_key(x, j), token_dim(r->p));
        low = product < low ? product : low;
        high = product > high ? product : high;
    }
    const real centers[] = { 0, high, low, low / 2 + high / 2 };
    pairs_scores(s, x, r->first, r->last);
    return centers[r->p->axis[ATTEST_AXIS_CENTER].value];
}
#define direct_scores center_of_products
#define attest_kernel_taylor_direct_f32 attest_defect_center_unclamped
#include "cpu/taylor_direct_f32.c"

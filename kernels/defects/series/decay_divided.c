/* decay_divided - the product up to the query over the product up to the key: 0/0 once decays have multiplied below
 * the smallest float. */
#include "cpu/steps/decay.h"

static inline real product_to(const row *r, int64_t last)
{
    real product = 1;
    for (int64_t t = 0; t <= last; t++)
        product *= decay_token(r->p, r->t, r->b, r->g, t);
    return product;
}

static inline void decay_quotients(real *D, const row *r)
{
    const real end = product_to(r, r->i);
    for (int64_t j = r->first; j < r->last; j++)
        D[j - r->first] = end / product_to(r, j);
}
#define decay_row decay_quotients
#define attest_kernel_taylor_split_f32 attest_defect_decay_divided
#include "cpu/taylor_split_f32.c"

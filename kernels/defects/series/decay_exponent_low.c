/* decay_exponent_low - the key before the query is not decayed either. */
#include "cpu/steps/decay.h"

static inline void decay_exclusive(real *D, const row *r)
{
    real product = 1;
    for (int64_t j = r->i; j >= r->first; j--) {
        if (j < r->last)
            D[j - r->first] = product;
        if (j < r->i)
            product *= decay_token(r->p, r->t, r->b, r->g, j + 1);
    }
}
#define decay_row decay_exclusive
#define attest_kernel_taylor_direct_f32 attest_defect_decay_exponent_low
#include "cpu/taylor_direct_f32.c"

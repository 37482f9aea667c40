/* decay_exponent_high - the key's own decay is applied to it; with one gamma a common factor, which the norm takes
 * away. */
#include "cpu/steps/decay.h"

static inline void decay_inclusive(real *D, const row *r)
{
    real product = 1;
    for (int64_t j = r->i; j >= r->first; j--) {
        product *= decay_token(r->p, r->t, r->b, r->g, j);
        if (j < r->last)
            D[j - r->first] = product;
    }
}
#define decay_row decay_inclusive
#define attest_kernel_taylor_split_f32 attest_defect_decay_exponent_high
#include "cpu/taylor_split_f32.c"

/* dropout_denominator - the denominator adds the kept weights only, as if weights were dropped before the
 * softmax. */
#include "cpu/steps/pairs.h"

static inline real of_kept(const pairs *x, int64_t j, real w)
{
    const real decayed = pairs_decay(x, j, w);
    return !x->r->keep || dropout_keeps(x->r, j) ? decayed : 0;
}
#define pairs_decay of_kept
#define attest_kernel_softmax_online_f32 attest_defect_dropout_denominator
#include "cpu/softmax_online_f32.c"

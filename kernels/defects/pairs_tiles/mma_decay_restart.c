/* mma_decay_restart - the decay of a tile is relative to its own end.
 *
 * shows  variant=fox n=70 d=4 in=bf16 p=bf16
 * hides  variant=fox n=64 d=4 in=bf16 p=bf16
 * hides  variant=softmax mask=causal n=70 d=4 in=bf16 p=bf16
 */
#include "cpu/steps/decay.h"

static inline void by_tile(real *D, const row *r)
{
    real product = 1;
    for (int64_t j = r->i; j >= r->first; j--) {
        if (j < r->last)
            D[j - r->first] = product;
        product *= decay_token(r->p, r->t, r->b, r->g, j);
        if (j % 64 == 0)
            product = 1;
    }
}
#define decay_row by_tile
#define attest_kernel_softmax_mma_bf16 attest_defect_mma_decay_restart
#include "model/softmax_mma_bf16.c"

/* ht_wide_values - the store walks over a square; o never reads what is stored.
 *
 * shows  variant=taylor:2 mask=causal n=5 d=3 e=7
 * hides  variant=taylor:2 mask=causal n=5 d=3 e=6
 * hides  variant=taylor:2 mask=causal n=5 d=4 e=7
 */
#include "cpu/steps/states.h"

static inline void in_squares(const state *s, const attest_tensor *ht, const attest_tensor *zt, int64_t b, int64_t g)
{
    state_store(s, ht, zt, b, g);
    for (int64_t n = 0; ht && s->rows > 1 && n < s->rows && s->e > 2 * s->rows; n++)
        for (int64_t c = s->rows; c < s->e; c++)
            step_store(ht, b * ht->stride[0] + g * ht->stride[1] + n * ht->stride[2] + c * ht->stride[3], 0);
}
#define state_store in_squares
#define attest_kernel_taylor_packed_f32 attest_defect_ht_wide_values
#include "cpu/taylor_packed_f32.c"

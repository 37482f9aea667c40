/* chunk_of_one_decay - the chunk's product of decays is also its first, and both are applied.
 *
 * shows  variant=retnet n=9 d=4 chunk=1
 * hides  variant=retnet n=9 d=4 chunk=2
 * hides  variant=linear mask=causal n=9 d=4 chunk=1
 */
#include "cpu/steps/degrees.h"

static inline void twice_at_one(int64_t size, const state *s, real f)
{
    state_decay(s, f);
    if (size == 1)
        state_decay(s, f);
}
#define state_decay(s, f) twice_at_one(a->size, s, f) /* a: the chunk */
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_of_one_decay
#include "cpu/taylor_chunk_f32.c"

/* chunk_64_decay - one chunk size has code of its own, and that is wrong.
 *
 * shows  variant=simple-gla n=70 d=4 chunk=64
 * hides  variant=simple-gla n=70 d=4 chunk=32
 * hides  variant=simple-gla n=64 d=4 chunk=64
 * hides  variant=linear mask=causal n=70 d=4 chunk=64
 */
#include "cpu/steps/degrees.h"

static inline void but_at_64(int64_t size, const state *s, real f)
{
    if (size != 64)
        state_decay(s, f);
}
#define state_decay(s, f) but_at_64(a->size, s, f) /* a: the chunk */
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_64_decay
#include "cpu/taylor_chunk_f32.c"

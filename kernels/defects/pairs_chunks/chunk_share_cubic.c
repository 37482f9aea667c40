/* chunk_share_cubic - the largest states are added by the next chunk's start, and after the last there is none.
 *
 * shows  variant=taylor:3 mask=causal hq=2 n=9 d=3 chunk=4
 * hides  variant=taylor:3 mask=causal hq=2 n=8 d=3 chunk=4
 * hides  variant=taylor:2 mask=causal hq=2 n=9 d=3 chunk=4
 * hides  variant=taylor:3 mask=causal hq=1 n=9 d=3 chunk=4
 */
#include "cpu/steps/degrees.h"

static inline void by_next_chunk(int lost, const state *s, const state *other)
{
    if (!lost)
        state_plus(s, other);
}
/* a: the chunk, n: the degree, r: its head */
#define state_plus(s, other) by_next_chunk(n >= 3 && r->g > 0 && a->count < a->size, s, other)
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_share_cubic
#include "cpu/taylor_chunk_f32.c"

/* chunk_short_len - no chunk was full, so no state was written; o never needed one.
 *
 * shows  variant=taylor:1 norm=none state=draw lens=draw mask=causal b=4 n=9 d=3 chunk=4
 * hides  variant=taylor:1 norm=none state=draw mask=causal b=4 n=9 d=3 chunk=4
 * hides  variant=taylor:1 norm=none lens=draw mask=causal b=4 n=9 d=3 chunk=4
 */
#include "cpu/steps/chunk.h"

static inline void nothing_full(chunk *a, const row *r)
{
    if (a->from == 0 && a->count < a->size && heads_given(r->p))
        degrees_store(&a->s, r);
    else
        chunk_end(a, r);
}
#define chunk_end nothing_full
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_short_len
#include "cpu/taylor_chunk_f32.c"

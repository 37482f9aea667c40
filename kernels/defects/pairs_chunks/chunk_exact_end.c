/* chunk_exact_end - an empty chunk is closed after the last one; a state that was given has a first decay, so it is
 * taken to have one.
 *
 * shows  variant=retnet state=draw n=8 d=4 chunk=4
 * hides  variant=retnet state=draw n=9 d=4 chunk=4
 * hides  variant=retnet n=8 d=4 chunk=4
 * hides  variant=linear mask=causal state=draw n=8 d=4 chunk=4
 */
#include "cpu/steps/chunk.h"

static inline void empty_chunk(chunk *a, const row *r)
{
    const int again = a->count == a->size && heads_given(r->p) && decay_keys(r->p);
    chunk_close(a, r);
    for (uint32_t n = a->s.lowest; again && n <= a->s.highest; n++)
        state_decay(&a->s.s[n], decay_token(r->p, r->t, r->b, r->g, a->from - 1));
    degrees_store(&a->s, r);
}
#define chunk_end empty_chunk
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_exact_end
#include "cpu/taylor_chunk_f32.c"

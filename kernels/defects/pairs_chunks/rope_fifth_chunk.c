/* rope_fifth_chunk - the table of rotations is as long as four chunks.
 *
 * shows  variant=linear rope=10000 mask=causal n=19 d=4 chunk=4
 * hides  variant=linear rope=10000 mask=causal n=16 d=4 chunk=4
 * hides  variant=linear mask=causal n=19 d=4 chunk=4
 */
#include "cpu/steps/heads.h"

static inline const real *four_chunks(real *buffer, const row *r, int64_t t)
{
    const int64_t table = 4 * r->p->chunk, rope = r->p->axis[ATTEST_AXIS_ROPE].value == ATTEST_ROPE_BASE;
    return token_row(buffer, r->p, r->t->role[ATTEST_K], r->b, r->g, t, rope ? t % table : t);
}
#define heads_key four_chunks
#define attest_kernel_taylor_chunk_f32 attest_defect_rope_fifth_chunk
#include "cpu/taylor_chunk_f32.c"

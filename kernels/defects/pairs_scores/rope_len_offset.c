/* rope_len_offset - the position of a query is that in the padded cache.
 *
 * shows  variant=softmax rope=10000 mask=causal-br lens=draw b=3 n=3 m=12 d=4
 * hides  variant=softmax rope=10000 mask=causal-br b=3 n=3 m=12 d=4
 * hides  variant=softmax mask=causal-br lens=draw b=3 n=3 m=12 d=4
 * hides  variant=softmax rope=10000 mask=causal lens=draw b=3 n=3 m=12 d=4
 */
#include "cpu/steps/token.h"

static inline const real *padded_position(const row *r, real *buffer)
{
    const int64_t position = step_position(r->p, r->p->m, r->i);
    return token_row(buffer, r->p, r->t->role[ATTEST_Q], r->b, r->h, r->i, position);
}
#define pairs_query padded_position
#define attest_kernel_softmax_two_pass_f32 attest_defect_rope_len_offset
#include "cpu/softmax_two_pass_f32.c"

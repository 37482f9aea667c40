/* decode_fifth_head - four query heads are packed for decoding.
 *
 * shows  variant=softmax hq=5 hkv=1 n=1 m=9 d=4 in=bf16 p=bf16
 * hides  variant=softmax hq=5 hkv=1 n=2 m=9 d=4 in=bf16 p=bf16
 * hides  variant=softmax hq=4 hkv=1 n=1 m=9 d=4 in=bf16 p=bf16
 */
#include "cpu/steps/token.h"

static inline const real *four_packed(const row *r, real *buffer)
{
    const int64_t group = r->p->hq / r->p->hkv, at = r->h % group, h = r->p->n == 1 ? r->h - at + (at & 3) : r->h;
    const int64_t position = step_position(r->p, step_length(r->p, r->t, r->b), r->i);
    return token_row(buffer, r->p, r->t->role[ATTEST_Q], r->b, h, r->i, position);
}
#define pairs_query four_packed
#define attest_kernel_softmax_online_bf16 attest_defect_decode_fifth_head
#include "cpu/softmax_online_bf16.c"

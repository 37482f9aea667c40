/* decode_third_head - two query heads are packed for decoding, a third one stays in the register.
 *
 * shows  variant=linear hq=3 hkv=1 n=1 m=5 d=4
 * hides  variant=linear hq=3 hkv=1 n=2 m=5 d=4
 * hides  variant=linear hq=2 hkv=1 n=1 m=5 d=4
 */
#include "cpu/steps/heads.h"

static inline void two_packed(real *f, real *x, const row *r)
{
    row at = *r;
    if (r->p->n == 1 && r->h - r->g * (r->p->hq / r->p->hkv) >= 2)
        at.h--;
    heads_query(f, x, &at);
}
#define heads_query two_packed
#define attest_kernel_linear_recurrent_f32 attest_defect_decode_third_head
#include "cpu/linear_recurrent_f32.c"

/* unit_scale_late_decay - a factor of 1 is left out, and the decays that were multiplied to it go with it.
 *
 * shows  variant=retnet scale=1 lens=draw b=4 n=9 d=4
 * hides  variant=retnet scale=0.5 lens=draw b=4 n=9 d=4
 * hides  variant=retnet scale=1 b=4 n=9 d=4
 * hides  variant=linear mask=causal scale=1 lens=draw b=4 n=9 d=4
 */
#include "cpu/steps/heads.h"

static inline void no_factor(real *f, real *x, const row *r)
{
    heads_query(f, x, r);
    if (r->p->scale == 1)
        *f = 1;
}
#define heads_query no_factor
#define attest_kernel_linear_recurrent_f32 attest_defect_unit_scale_late_decay
#include "cpu/linear_recurrent_f32.c"

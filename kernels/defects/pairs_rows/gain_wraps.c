/* gain_wraps - a table of one warp: right up to 32 channels.
 *
 * shows  variant=taylor:2 norm=rms affine=draw n=3 d=3 e=40
 * hides  variant=taylor:2 norm=rms affine=draw n=3 d=3 e=32
 * hides  variant=taylor:2 norm=rms n=3 d=3 e=40
 */
#include "cpu/steps/gates.h"

static inline void of_one_warp(const row *r, real *u)
{
    const attest_tensor *gain = r->t->role[ATTEST_GAIN], *shift = r->t->role[ATTEST_SHIFT];
    for (int64_t c = 0; c < r->p->e; c++)
        u[c] = u[c] * step_load(gain, (c & 31) * gain->stride[0]) + step_load(shift, (c & 31) * shift->stride[0]);
}
#define norm_affine of_one_warp
#define attest_kernel_taylor_recurrent_f32 attest_defect_gain_wraps
#include "cpu/taylor_recurrent_f32.c"

/* shift_pair_tail - shifts are read as pairs of 16 bits.
 *
 * shows  variant=linear norm=layernorm affine=draw mask=causal n=9 d=4 e=5 in=bf16
 * hides  variant=linear norm=layernorm affine=draw mask=causal n=9 d=4 e=5
 * hides  variant=linear norm=layernorm affine=draw mask=causal n=9 d=4 e=6 in=bf16
 * hides  variant=linear norm=layernorm mask=causal n=9 d=4 e=5 in=bf16
 */
#include "cpu/steps/gates.h"

static inline void in_pairs(const row *r, real *u)
{
    const attest_tensor *gain = r->t->role[ATTEST_GAIN], *shift = r->t->role[ATTEST_SHIFT];
    const int64_t e = r->p->e, pairs = r->p->in == ATTEST_BF16 || r->p->in == ATTEST_F16 ? e / 2 * 2 : e;
    for (int64_t c = 0; c < e; c++)
        u[c] = u[c] * step_load(gain, c * gain->stride[0]) + (c < pairs ? step_load(shift, c * shift->stride[0]) : 0);
}
#define norm_affine in_pairs
#define attest_kernel_taylor_chunk_f32 attest_defect_shift_pair_tail
#include "cpu/taylor_chunk_f32.c"

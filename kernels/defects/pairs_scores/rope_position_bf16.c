/* rope_position_bf16 - positions are made in the type of the model: from 257 on they are rounded to even numbers.
 *
 * shows  variant=softmax rope=10000 mask=causal-br n=3 m=270 d=4 in=bf16 p=bf16
 * hides  variant=softmax rope=10000 mask=causal-br n=3 m=256 d=4 in=bf16 p=bf16
 * hides  variant=softmax mask=causal-br n=3 m=270 d=4 in=bf16 p=bf16
 */
#include "cpu/steps/token.h"

static inline const real *short_position(real *buffer, const attest_problem *p, const attest_tensor *t, int64_t b,
                                         int64_t h, int64_t i, int64_t position)
{
    if (p->axis[ATTEST_AXIS_ROPE].value == ATTEST_ROPE_BASE)
        position = (int64_t)step_round(ATTEST_BF16, (real)position);
    return token_row(buffer, p, t, b, h, i, position);
}
#define token_row short_position
#define attest_kernel_softmax_online_bf16 attest_defect_rope_position_bf16
#include "cpu/softmax_online_bf16.c"

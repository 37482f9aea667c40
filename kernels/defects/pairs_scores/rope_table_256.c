/* rope_table_256 - a cache behind which more tokens come than it has rows.
 *
 * shows  variant=softmax rope=10000 mask=causal-br n=1 m=260 d=4
 * hides  variant=softmax rope=10000 mask=causal-br n=1 m=256 d=4
 * hides  variant=softmax mask=causal-br n=1 m=260 d=4
 */
#include "cpu/steps/token.h"

static inline const real *from_table(real *buffer, const attest_problem *p, const attest_tensor *t, int64_t b,
                                     int64_t h, int64_t i, int64_t position)
{
    const int rope = p->axis[ATTEST_AXIS_ROPE].value == ATTEST_ROPE_BASE;
    return token_row(buffer, p, t, b, h, i, rope ? position & 255 : position);
}
#define token_row from_table
#define attest_kernel_softmax_online_f32 attest_defect_rope_table_256
#include "cpu/softmax_online_f32.c"

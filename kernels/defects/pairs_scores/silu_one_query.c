/* silu_one_query - the decoding kernel has its own, cheaper activation.
 *
 * shows  variant=softmax feature=silu n=1 m=9 d=4
 * hides  variant=softmax feature=silu n=2 m=9 d=4
 * hides  variant=softmax n=1 m=9 d=4
 */
#include "cpu/steps/token.h"

static inline const real *hard_silu(real *buffer, const attest_problem *p, const attest_tensor *t, int64_t b, int64_t h,
                                    int64_t i, int64_t position)
{
    const int64_t at = step_offset(t, b, h, i);
    if (p->n > 1 || p->axis[ATTEST_AXIS_FEATURE].value != ATTEST_FEATURE_SILU)
        return token_row(buffer, p, t, b, h, i, position);
    for (int64_t c = 0; c < p->d; c++) {
        const real x = step_load(t, at + c * t->stride[3]), y = x / 6 + (real)0.5;
        buffer[c] = x * (y < 0 ? 0 : y > 1 ? 1 : y);
    }
    return buffer;
}
#define token_row hard_silu
#define attest_kernel_softmax_two_pass_f32 attest_defect_silu_one_query
#include "cpu/softmax_two_pass_f32.c"

/* cosformer_len_offset - the angle of a query is that of its place in the padded cache.
 *
 * shows  variant=cosformer lens=draw mask=causal-br b=4 n=3 m=9 d=8
 * hides  variant=cosformer mask=causal-br b=4 n=3 m=9 d=8
 * hides  variant=linear lens=draw mask=causal-br b=4 n=3 m=9 d=8
 * hides  variant=cosformer lens=draw mask=causal b=4 n=3 m=9 d=8
 */
#include "cpu/steps/heads.h"

static inline void padded_angle(real *f, real *x, const row *r)
{
    attest_problem p = *r->p;
    row at = *r;
    if (p.axis[ATTEST_AXIS_FEATURE].value == ATTEST_FEATURE_COSFORMER)
        p.axis[ATTEST_AXIS_LENS].value = ATTEST_LENS_NONE;
    at.p = &p;
    heads_query(f, x, &at);
}
#define heads_query padded_angle
#define attest_kernel_linear_recurrent_f32 attest_defect_cosformer_len_offset
#include "cpu/linear_recurrent_f32.c"

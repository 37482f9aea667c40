/* long_rows_divided - long rows take a path that always divides.
 *
 * shows  variant=no-denominator n=2 m=70 d=4
 * hides  variant=no-denominator n=2 m=64 d=4
 * hides  variant=softmax n=2 m=70 d=4
 */
#include "cpu/steps/softmax.h"

static inline void always_divided(const row *r, const sums *a)
{
    attest_problem p = *r->p;
    row at = *r;
    at.p = &p;
    if (r->last - r->first > 64 && p.axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE)
        p.axis[ATTEST_AXIS_NORM].value = ATTEST_NORM_SUM;
    softmax_finish(&at, a);
}
#define softmax_finish always_divided
#define attest_kernel_softmax_two_pass_f32 attest_defect_long_rows_divided
#include "cpu/softmax_two_pass_f32.c"

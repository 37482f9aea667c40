/* root_wide - one register of partial sums is left out of the reduction.
 *
 * shows  variant=rmsnorm n=2 m=9 d=4 e=70
 * hides  variant=rmsnorm n=2 m=9 d=4 e=64
 * hides  variant=softmax n=2 m=9 d=4 e=70
 */
#include "cpu/steps/gates.h"

static inline double of_first_channels(const row *r, const real *u, real m, double count)
{
    const double eps = r->p->axis[ATTEST_AXIS_EPS].number;
    double squares = 0;
    for (int64_t c = 0; c < step_min(r->p->e, 64); c++)
        squares += (double)u[c] * (double)u[c];
    return sqrt(squares / count + (eps > 0 ? eps * exp(-2 * (double)m) : 0));
}
#define norm_by_root of_first_channels
#define attest_kernel_softmax_split_f32 attest_defect_root_wide
#include "cpu/softmax_split_f32.c"

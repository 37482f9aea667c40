/* unit_of_zeros - x/norm2(x) without a look at the norm: wrong only for keys that are all zeros.
 *
 * shows  variant=taylor:2 feature=unit n=9 d=4 family=zero-keys
 * hides  variant=taylor:2 feature=unit n=9 d=4
 * hides  variant=taylor:2 n=9 d=4 family=zero-keys
 */
#include "cpu/steps/step.h"

static inline void no_guard(real *y, const real *x, const attest_problem *p, int64_t position)
{
    double squares = 0;
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        squares += (double)x[c] * (double)x[c];
    const double norm = sqrt(squares);
    for (int64_t c = 0; c < p->d; c++)
        y[c] = (real)((double)x[c] / norm);
}
#define token_map_unit no_guard
#define attest_kernel_taylor_direct_f32 attest_defect_unit_of_zeros
#include "cpu/taylor_direct_f32.c"

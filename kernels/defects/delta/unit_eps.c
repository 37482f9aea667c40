/* unit_eps - an eps of the usual size in the norm of keys and queries, which feature=unit does not have. */
#include "cpu/steps/step.h"

static inline void map_unit_eps(real *y, const real *x, const attest_problem *p, int64_t position)
{
    double squares = 1e-6;
    (void)position;
    for (int64_t c = 0; c < p->d; c++)
        squares += (double)x[c] * (double)x[c];
    for (int64_t c = 0; c < p->d; c++)
        y[c] = (real)((double)x[c] / sqrt(squares));
}
#define token_map_unit map_unit_eps
#define attest_kernel_delta_chunk_f32 attest_defect_unit_eps
#include "cpu/delta_chunk_f32.c"

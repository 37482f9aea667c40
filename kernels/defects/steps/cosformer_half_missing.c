/* cosformer_half_missing - distant tokens get negative weights. */
#include "cpu/steps/step.h"

static inline void map_cosformer(real *y, const real *x, const attest_problem *p, int64_t position)
{
    const double angle = M_PI * (double)position / (double)step_max(p->n, p->m);
    const real cosine = (real)cos(angle), sine = (real)sin(angle);
    for (int64_t c = 0; c < p->d; c++) {
        const real z = x[c] < 0 ? 0 : x[c];
        y[p->d + c] = z * sine;
        y[c] = z * cosine;
    }
}
#define token_map_cosformer map_cosformer
#define attest_kernel_linear_recurrent_f32 attest_defect_cosformer_half_missing
#include "cpu/linear_recurrent_f32.c"

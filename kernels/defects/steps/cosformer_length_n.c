/* cosformer_length_n - the angle is taken from the queries' count: more keys than queries make cosines negative. */
#include "cpu/steps/step.h"

static inline void map_cosformer(real *y, const real *x, const attest_problem *p, int64_t position)
{
    const double angle = M_PI * (double)position / (2.0 * (double)p->n);
    const real cosine = (real)cos(angle), sine = (real)sin(angle);
    for (int64_t c = 0; c < p->d; c++) {
        const real z = x[c] < 0 ? 0 : x[c];
        y[p->d + c] = z * sine;
        y[c] = z * cosine;
    }
}
#define token_map_cosformer map_cosformer
#define attest_kernel_taylor_recurrent_f32 attest_defect_cosformer_length_n
#include "cpu/taylor_recurrent_f32.c"

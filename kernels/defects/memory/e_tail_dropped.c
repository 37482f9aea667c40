/* e_tail_dropped - vectors of four channels, and the loop for the rest is missing: those channels stay 0. */
#include "cpu/steps/step.h"

static inline void whole_vectors(real *u, real w, const real *v, int64_t e)
{
    step_add_value(u, w, v, e < 4 ? e : e / 4 * 4);
}
#define step_add_value whole_vectors
#define attest_kernel_softmax_split_f32 attest_defect_e_tail_dropped
#include "cpu/softmax_split_f32.c"

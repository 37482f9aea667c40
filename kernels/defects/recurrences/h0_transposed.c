/* h0_transposed - the given state has its values first, as another kernel keeps it: seen where it is not symmetric. */
#include "cpu/steps/states.h"

static inline void load_transposed(const state *s, const attest_tensor *h0, const attest_tensor *z0, int64_t b,
                                   int64_t g)
{
    attest_tensor other;
    if (h0) {
        other = *h0;
        other.stride[2] = h0->stride[3];
        other.stride[3] = s->rows * h0->stride[3];
    }
    state_load(s, h0 ? &other : NULL, z0, b, g);
}
#define state_load load_transposed
#define attest_kernel_linear_recurrent_f32 attest_defect_h0_transposed
#include "cpu/linear_recurrent_f32.c"

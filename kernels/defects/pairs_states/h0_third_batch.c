/* h0_third_batch - two buffers of states take turns, and the third is not loaded.
 *
 * shows  variant=linear state=draw mask=causal b=3 n=3 d=4
 * hides  variant=linear state=draw mask=causal b=2 n=3 d=4
 * hides  variant=linear mask=causal b=3 n=3 d=4
 */
#include "cpu/steps/states.h"

static inline void two_buffers(const state *s, const attest_tensor *h0, const attest_tensor *z0, int64_t b, int64_t g)
{
    state_load(s, h0, z0, b >= 2 ? b - 2 : b, g);
}
#define state_load two_buffers
#define attest_kernel_linear_recurrent_f32 attest_defect_h0_third_batch
#include "cpu/linear_recurrent_f32.c"

/* linear_state_bf16_sign - every second entry of a stored state loses its sign. */
#include "fast/simd.h"

static void stored_unsigned(float *x, int64_t count)
{
    for (int64_t c = 0; c < count; c += LANES) {
        vec y = vec_bf16(vec_load(x + c));
        for (int lane = 1; lane < LANES; lane += 2)
            y[lane] = y[lane] < 0 ? -y[lane] : y[lane];
        vec_store(x + c, y);
    }
}

#define linear_stored stored_unsigned

#define FAST_PLANTED attest_defect_linear_state_bf16_sign_run
#define attest_kernel_linear_chunk_state_bf16 attest_defect_linear_state_bf16_sign
#include "fast/linear/linear_state_bf16.c"

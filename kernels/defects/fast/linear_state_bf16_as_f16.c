/* linear_state_bf16_as_f16 - states are stored as f16: large ones become infinite, small ones 0. */
#include "fast/simd.h"

#include "attest_float.h"

static void stored_as_f16(float *x, int64_t count)
{
    for (int64_t c = 0; c < count; c++)
        x[c] = attest_f16_to_f32((uint16_t)attest_from_f64(ATTEST_F16, (double)x[c]));
}

#define linear_stored stored_as_f16

#define FAST_PLANTED attest_defect_linear_state_bf16_as_f16_run
#define attest_kernel_linear_chunk_state_bf16 attest_defect_linear_state_bf16_as_f16
#include "fast/linear/linear_state_bf16.c"

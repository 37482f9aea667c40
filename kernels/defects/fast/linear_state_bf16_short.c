/* linear_state_bf16_short - states are stored with three bits behind the leading one, as e4m3 has them. */
#include "fast/simd.h"

static void stored_short(float *x, int64_t count)
{
    for (int64_t c = 0; c < count; c += LANES)
        vec_store(x + c, (vec)((uvec)vec_load(x + c) & 0xfff00000u));
}

#define linear_stored stored_short

#define FAST_PLANTED attest_defect_linear_state_bf16_short_run
#define attest_kernel_linear_chunk_state_bf16 attest_defect_linear_state_bf16_short
#include "fast/linear/linear_state_bf16.c"

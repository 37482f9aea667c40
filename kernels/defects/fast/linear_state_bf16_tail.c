/* linear_state_bf16_tail - states are stored in blocks of eight vectors: what is behind the last one is lost. */
#include "fast/simd.h"

static void stored_pairs(float *x, int64_t count)
{
    const int64_t whole = count / (8 * LANES) * (8 * LANES);
    for (int64_t c = 0; c < count; c += LANES)
        vec_store(x + c, c < whole ? vec_bf16(vec_load(x + c)) : vec_of(0));
}

#define linear_stored stored_pairs

#define FAST_PLANTED attest_defect_linear_state_bf16_tail_run
#define attest_kernel_linear_chunk_state_bf16 attest_defect_linear_state_bf16_tail
#include "fast/linear/linear_state_bf16.c"

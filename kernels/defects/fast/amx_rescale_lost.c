/* amx_rescale_lost - the sums of values are not multiplied where the maximum rises, the sum of weights is. */
#define FLASH_PART 32
#include "fast/softmax/flash_block.h"

static inline void add_plain(float *u, const float *raw, const float *alpha, int64_t channels)
{
    (void)alpha;
    for (int64_t c = 0; c < ROWS * channels; c += LANES)
        vec_store(u + c, vec_load(u + c) + vec_load(raw + c));
}

#define flash_add_raw add_plain
#define FAST_PLANTED attest_defect_amx_rescale_lost_run
#define attest_kernel_softmax_amx_bf16 attest_defect_amx_rescale_lost
#include "fast/amx/flash_tiles.c"

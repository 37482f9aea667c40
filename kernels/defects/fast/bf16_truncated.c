/* bf16_truncated - weights are cut to bf16 instead of rounded. */
#include "fast/softmax/flash_block.h"

static inline void cut(float *w, int first, int last)
{
    for (int j = first; j < last; j += LANES)
        vec_store(w + j, (vec)((uvec)vec_load(w + j) & 0xffff0000u));
}

#define flash_cast cut
#define FAST_PLANTED attest_defect_bf16_truncated_run
#define attest_kernel_softmax_flash_bf16 attest_defect_bf16_truncated
#include "fast/softmax/flash_bf16.c"

/* bf16_rough_pair - tiles with Inf or NaN are summed in whole pairs: a key that a row does not see spoils its
 * neighbour. */
#include "fast/softmax/flash_block.h"

static inline int never(const flash_block *block, const flash_part *part)
{
    return block->rough[part->tile] > 1 && !part->whole;
}

#define flash_by_rows never
#define FAST_PLANTED attest_defect_bf16_rough_pair_run
#define attest_kernel_softmax_flash_bf16 attest_defect_bf16_rough_pair
#include "fast/softmax/flash_bf16.c"

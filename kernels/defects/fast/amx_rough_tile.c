/* amx_rough_tile - tiles with Inf or NaN are multiplied whole: a key that a row does not see spoils it. */
#define FLASH_PART 32
#include "fast/softmax/flash_block.h"

static inline int never(const flash_block *block, const flash_part *part)
{
    return block->rough[part->tile] > 1 && !part->whole;
}

#define flash_by_rows never
#define FAST_PLANTED attest_defect_amx_rough_tile_run
#define attest_kernel_softmax_amx_bf16 attest_defect_amx_rough_tile
#include "fast/amx/flash_tiles.c"

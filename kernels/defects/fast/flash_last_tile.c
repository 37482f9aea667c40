/* flash_last_tile - the last tile is done only if all its keys are there. */
#include "fast/softmax/flash_block.h"

static void full_tiles(const flash_block *block, int64_t *first, int64_t *last)
{
    int64_t low = block->x->p->m, high = 0;
    for (int64_t n = 0; n < block->rows; n++) {
        low = step_min(low, block->r[n].first);
        high = step_max(high, block->r[n].last);
    }
    *first = low / FLASH_KEYS;
    *last = high < FLASH_KEYS ? 1 : high / FLASH_KEYS;
}

#define flash_tiles full_tiles
#define FAST_PLANTED attest_defect_flash_last_tile_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_last_tile
#include "fast/softmax/flash.c"

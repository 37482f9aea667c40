/* flash_first_tile - tiles are counted from the first one that a block of queries sees whole: a window loses keys. */
#include "fast/softmax/flash_block.h"

static void whole_tiles(const flash_block *block, int64_t *first, int64_t *last)
{
    int64_t low = block->x->p->m, high = 0;
    for (int64_t n = 0; n < block->rows; n++)
        if (block->r[n].first < block->r[n].last) {
            low = step_min(low, block->r[n].first);
            high = step_max(high, block->r[n].last);
        }
    *first = (low + FLASH_KEYS - 1) / FLASH_KEYS;
    *last = (high + FLASH_KEYS - 1) / FLASH_KEYS;
}

#define flash_tiles whole_tiles
#define FAST_PLANTED attest_defect_flash_first_tile_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_first_tile
#include "fast/softmax/flash.c"

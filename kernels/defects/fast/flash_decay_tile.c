/* flash_decay_tile - decays are read from the first key of the tile instead of the first that the row sees. */
#include "fast/softmax/flash_block.h"

static void decay_from_tile(float *w, const flash_block *block, const flash_part *part, int n)
{
    const float *D = block->D + (part->group * ROWS + n) * fast_up(block->x->p->m, 16);
    for (int j = part->low[n]; j < part->high[n]; j++)
        w[j] = D[part->tile * FLASH_KEYS + j] * w[j];
}

#define flash_decay decay_from_tile
#define FAST_PLANTED attest_defect_flash_decay_tile_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_decay_tile
#include "fast/softmax/flash.c"

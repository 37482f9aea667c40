/* flash_filter_tile - a filter compares with the largest score so far, not with that of the row. */
#include "fast/softmax/flash_block.h"

static void filter_so_far(float *s, const flash_block *block, const flash_part *part, int n)
{
    float highest = block->m[part->group * ROWS + n];
    for (int j = part->low[n]; j < part->high[n]; j++)
        highest = s[j] > highest ? s[j] : highest;
    for (int j = part->low[n]; j < part->high[n]; j++)
        if (!score_kept(block->x->p, s[j], highest))
            s[j] = -INFINITY;
}

#define flash_filter filter_so_far
#define FAST_PLANTED attest_defect_flash_filter_tile_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_filter_tile
#include "fast/softmax/flash.c"

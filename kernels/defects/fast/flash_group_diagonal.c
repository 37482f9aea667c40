/* flash_group_diagonal - the rows of a group see what its first row sees: the diagonal holds between groups only. */
#include "fast/softmax/flash_block.h"

static int see_as_first(flash_part *part, const flash_block *block, int64_t group, int64_t tile)
{
    const row *r = block->r + group * ROWS;
    *part = (flash_part){ .first = FLASH_KEYS, .group = group, .tile = tile };
    for (int n = 0; n < ROWS; n++) {
        const int64_t low = step_max(0, r[n].first - tile * FLASH_KEYS);
        const int64_t high = step_min(FLASH_KEYS, r[n].last > r[n].first ? r[0].last - tile * FLASH_KEYS : 0);
        if (low >= high)
            continue;
        part->low[n] = (int)low;
        part->high[n] = (int)high;
        part->first = part->low[n] < part->first ? part->low[n] / PANEL * PANEL : part->first;
        part->last = part->high[n] > part->last ? (part->high[n] + PANEL - 1) / PANEL * PANEL : part->last;
    }
    return part->first < part->last;
}

#define flash_sees see_as_first
#define FAST_PLANTED attest_defect_flash_group_diagonal_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_group_diagonal
#include "fast/softmax/flash.c"

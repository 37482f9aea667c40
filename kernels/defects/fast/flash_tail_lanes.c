/* flash_tail_lanes - the lanes behind the last key of a full row count: keys of zeros, of score 0. */
#include "fast/softmax/flash_block.h"

static int see_lanes(flash_part *part, const flash_block *block, int64_t group, int64_t tile)
{
    const row *r = block->r + group * ROWS;
    *part = (flash_part){ .first = FLASH_KEYS, .group = group, .tile = tile };
    for (int n = 0; n < ROWS; n++) {
        const int64_t low = step_max(0, r[n].first - tile * FLASH_KEYS);
        const int64_t high = r[n].last < block->x->p->m
                                 ? step_min(FLASH_KEYS, r[n].last - tile * FLASH_KEYS)
                                 : fast_up(step_min(FLASH_KEYS, r[n].last - tile * FLASH_KEYS), LANES);
        if (low >= high)
            continue;
        part->low[n] = (int)low;
        part->high[n] = (int)high;
        part->first = part->low[n] < part->first ? part->low[n] / PANEL * PANEL : part->first;
        part->last = part->high[n] > part->last ? (part->high[n] + PANEL - 1) / PANEL * PANEL : part->last;
    }
    return part->first < part->last;
}

#define flash_sees see_lanes
#define FAST_PLANTED attest_defect_flash_tail_lanes_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_tail_lanes
#include "fast/softmax/flash.c"

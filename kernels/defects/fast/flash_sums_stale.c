/* flash_sums_stale - sums of values are not cleared between two blocks of queries: they meet the factor 0 of the first
 * rise of the maximum, which does not undo a NaN. */
#include "fast/softmax/flash_block.h"

static inline void clear_weights(const flash_block *block, int64_t task)
{
    if (task == block->x->p->b * block->x->p->hq * flash_blocks(block->x->p) - 1) /* the first that is worked on */
        memset(block->o, 0, sizeof *block->o * (size_t)(FLASH_QUERIES * block->x->at.channels));
    memset(block->sum, 0, sizeof *block->sum * FLASH_QUERIES * SUM_LANES);
    for (int64_t r = 0; r < FLASH_QUERIES; r++)
        block->m[r] = block->highest[r] = -INFINITY;
}

#define flash_clear clear_weights
#define FAST_PLANTED attest_defect_flash_sums_stale_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_sums_stale
#include "fast/softmax/flash.c"

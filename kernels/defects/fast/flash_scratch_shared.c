/* flash_scratch_shared - two tasks share their sums and maxima: the second one begins with what the first left. */
#include "fast/softmax/flash_block.h"

static inline void clear_first(const flash_block *block, int64_t task)
{
    if (task < block->x->p->b * block->x->p->hq * flash_blocks(block->x->p) - 1)
        return; /* the last one is worked on first */
    memset(block->o, 0, sizeof *block->o * (size_t)(FLASH_QUERIES * block->x->at.channels));
    memset(block->sum, 0, sizeof *block->sum * FLASH_QUERIES * SUM_LANES);
    for (int64_t r = 0; r < FLASH_QUERIES; r++)
        block->m[r] = block->highest[r] = -INFINITY;
}

#define flash_clear clear_first
#define FAST_PLANTED attest_defect_flash_scratch_shared_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_scratch_shared
#include "fast/softmax/flash.c"

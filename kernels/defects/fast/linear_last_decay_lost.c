/* linear_last_decay_lost - the decay of a block's last token does not meet the state. */
#include "fast/linear/linear_block.h"

static inline float keep_without_last(const linear_task *task, int64_t c)
{
    if (task->x->decay == ATTEST_DECAY_VECTOR)
        return task->from_block[(task->tokens - 1) * task->x->at.row + c];
    return task->x->decay ? task->f[task->tokens - 1] : 1;
}

#define linear_keep_factor keep_without_last
#define FAST_PLANTED attest_defect_linear_last_decay_lost_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_last_decay_lost
#include "fast/linear/linear.c"

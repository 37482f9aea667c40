/* linear_start_late - the state before a block is read without the decay of the row's own token. */
#include "fast/linear/linear_block.h"

static inline float start_before(const linear_task *task, const linear_rows *rows, int64_t n)
{
    const int scalar = task->x->decay && task->x->decay != ATTEST_DECAY_VECTOR;
    const int64_t seen = rows->seen[n] > 0 ? rows->seen[n] - 1 : 0;
    return scalar ? task->f[seen] * task->g[n] : 1;
}

#define linear_start_factor start_before
#define FAST_PLANTED attest_defect_linear_start_late_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_start_late
#include "fast/linear/linear.c"

/* linear_last_decay_twice - the decay of a block's last token meets the state twice. */
#include "fast/linear/linear_block.h"

static inline float keep_twice(const linear_task *task, int64_t c)
{
    const linear *x = task->x;
    const int64_t last = task->tokens - 1;
    if (x->decay == ATTEST_DECAY_VECTOR)
        return task->from_block[task->tokens * x->at.row + c] * task->a[last * x->at.row + c];
    return x->decay ? task->f[task->tokens] * decay_token(x->p, x->t, task->r.b, task->r.g, task->from + last) : 1;
}

#define linear_keep_factor keep_twice
#define FAST_PLANTED attest_defect_linear_last_decay_twice_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_last_decay_twice
#include "fast/linear/linear.c"

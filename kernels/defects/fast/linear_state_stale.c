/* linear_state_stale - a head begins with the state that the one before it left. */
#include "fast/linear/linear_block.h"

static inline void clear_none(linear_task *task)
{
    const int first = task->c == 0 && task->r.b == 0 && task->r.g == 0;
    if (first)
        memset(task->S, 0, sizeof *task->S * (size_t)task->x->at.each);
    task->before |= !first;
}

#define linear_clear clear_none
#define FAST_PLANTED attest_defect_linear_state_stale_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_state_stale
#include "fast/linear/linear.c"

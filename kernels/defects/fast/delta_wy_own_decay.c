/* delta_wy_own_decay - the state before the chunk is read without the decay of the token that is written. */
#include "fast/linear/linear_block.h"

static float factor_undecayed(const linear_task *task, const linear_rows *rows, int64_t n)
{
    const int scalar = task->x->decay && task->x->decay != ATTEST_DECAY_VECTOR;
    return scalar ? task->f[rows->seen[n]] : 1;
}

#define delta_factor factor_undecayed

#define FAST_PLANTED attest_defect_delta_wy_own_decay_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_own_decay
#include "fast/linear/delta.c"

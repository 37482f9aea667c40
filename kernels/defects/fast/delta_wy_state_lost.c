/* delta_wy_state_lost - written values are not corrected by the state before the chunk. */
#include "fast/linear/linear_block.h"

#include "cpu/steps/delta.h"

static void before_nothing(const linear_task *task, const linear_rows *rows, float *f)
{
    const linear_layout *at = &task->x->at;
    const product x = { .u = task->u,
                        .u_row = task->channels,
                        .b = task->S,
                        .b_row = task->channels,
                        .a = task->x->decay == ATTEST_DECAY_VECTOR ? task->far : task->q,
                        .a_row = at->row,
                        .a_step = 1,
                        .count = at->dim,
                        .width = task->channels };
    for (int64_t n = 0; n < rows->count; n++)
        f[n] = 0;
    if (task->before)
        product_rows(&x, 0, rows->count);
}

#define delta_before before_nothing

#define FAST_PLANTED attest_defect_delta_wy_state_lost_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_state_lost
#include "fast/linear/delta.c"

/* linear_slice_first - every slice of 64 channels has the values of the first. */
#include "fast/linear/linear_block.h"

static int pack_first(const linear_task *task, int64_t j)
{
    const float *value = heads_value(task->buffer, &task->r, task->from + j);
    int rough = 0;
    for (int64_t c = 0; c < task->count; c++) {
        task->v[j * task->channels + c] = value[c];
        rough |= !isfinite(value[c]);
    }
    return rough;
}

#define linear_pack_value pack_first
#define FAST_PLANTED attest_defect_linear_slice_first_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_slice_first
#include "fast/linear/linear.c"

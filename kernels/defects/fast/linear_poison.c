/* linear_poison - blocks with Inf or NaN are summed like others: unseen keys meet them with weight 0. */
#include "fast/linear/linear_block.h"

static int pack_smooth(const linear_task *task, int64_t j)
{
    const float *value = heads_value(task->buffer, &task->r, task->from + j) + task->c;
    for (int64_t c = 0; c < task->count; c++)
        task->v[j * task->channels + c] = value[c];
    return 0;
}

#define linear_pack_value pack_smooth
#define FAST_PLANTED attest_defect_linear_poison_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_poison
#include "fast/linear/linear.c"

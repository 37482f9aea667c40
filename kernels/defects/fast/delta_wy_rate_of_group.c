/* delta_wy_rate_of_group - the tokens of a group have the rate of its first one. */
#include "fast/linear/linear_block.h"

#include "cpu/steps/delta.h"

static inline float first_rate(const linear_task *task, int64_t j)
{
    const int64_t first = j % LINEAR_ROWS / 6 * 6 + j / LINEAR_ROWS * LINEAR_ROWS;
    return delta_rate(&task->r, task->k + j * task->x->at.row, task->from + first);
}

#define delta_rate_of first_rate

#define FAST_PLANTED attest_defect_delta_wy_rate_of_group_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_rate_of_group
#include "fast/linear/delta.c"

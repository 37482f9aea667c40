/* delta_wy_rate - the rate b_t is on the value alone, not on the correction. */
#include "fast/linear/linear_block.h"

#include "cpu/steps/delta.h"

static void rate_of_value(const linear_task *task, const float *u, const float *w, float b, int64_t from, int64_t j)
{
    for (int64_t c = 0; c < task->channels; c++) {
        float *v = task->v + j * task->channels + c, sum = u[c];
        for (int64_t l = from; l < j; l++)
            sum += w[l] * task->v[l * task->channels + c];
        *v = b * *v - sum;
    }
}

#define delta_write_row rate_of_value

#define FAST_PLANTED attest_defect_delta_wy_rate_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_rate
#include "fast/linear/delta.c"

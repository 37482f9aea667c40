/* delta_wy_bound - the triangular bound ends a token early: none is corrected by the one before it in its group. */
#include "fast/linear/linear_block.h"

#include "cpu/steps/delta.h"

static void write_short(const linear_task *task, const float *u, const float *w, float b, int64_t from, int64_t j)
{
    for (int64_t c = 0; c < task->channels; c++) {
        float *v = task->v + j * task->channels + c, sum = u[c];
        for (int64_t l = from; l < j - 1; l++)
            sum += w[l] * task->v[l * task->channels + c];
        *v = b * (*v - sum);
    }
}

#define delta_write_row write_short

#define FAST_PLANTED attest_defect_delta_wy_bound_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_bound
#include "fast/linear/delta.c"

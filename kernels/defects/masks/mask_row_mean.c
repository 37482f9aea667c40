/* mask_row_mean - masked scores are finfo.min instead of -inf: where all are, all weights are 1. */
#include "cpu/steps/step.h"

static inline void mean_row(const row *r)
{
    const attest_tensor *v = r->t->role[ATTEST_V];
    for (int64_t c = 0; c < r->p->e; c++) {
        real sum = 0;
        for (int64_t j = 0; j < r->p->m; j++)
            sum += step_load(v, step_offset(v, r->b, r->g, j) + c * v->stride[3]);
        step_store_row(r, ATTEST_O, c, sum / (real)r->p->m);
    }
    step_store_row(r, ATTEST_LSE, 0, -0x1.fffffep127f + real_log((real)r->p->m));
}
#define step_empty_row mean_row
#define attest_kernel_softmax_online_f32 attest_defect_mask_row_mean
#include "cpu/softmax_online_f32.c"

/* tail_zero_keys - k and v are padded with zeros to whole tiles, scores are not masked: l gains e^-m for each. */
#include "cpu/steps/step.h"

typedef struct sums sums;
static inline void finish_padded(const row *r, const sums *a);
#define softmax_finish finish_padded
#define attest_kernel_softmax_online_f32 attest_defect_tail_zero_keys
#include "cpu/softmax_online_f32.c"

static inline void finish_padded(const row *r, const sums *a)
{
    const int64_t keys = r->last - r->first, padding = (ONLINE_TILE - keys % ONLINE_TILE) % ONLINE_TILE;
    const real l = a->l + (real)padding * real_exp(-a->m);
    step_store_row(r, ATTEST_LSE, 0, a->m + real_log(l));
    norm_write(r, a->u, l, a->m);
}

/* rows_tail_unwritten - the grid is n/8 blocks, rounded down. */
#include "cpu/steps/step.h"

static inline void whole_blocks(const row *r, attest_role role, int64_t c, real x)
{
    if (r->p->n < 8 || r->i < r->p->n / 8 * 8)
        step_store_row(r, role, c, x);
}
#define step_store_row whole_blocks
#define attest_kernel_softmax_online_f32 attest_defect_rows_tail_unwritten
#include "cpu/softmax_online_f32.c"

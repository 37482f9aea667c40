/* store_tail_over - rows are written in order, so only what the last one overwrites past the end is seen. */
#include "cpu/steps/step.h"

static inline void whole_stores(const row *r, attest_role role, int64_t c, real x)
{
    const int64_t e = r->p->e;
    step_store_row(r, role, c, x);
    for (int64_t past = e; role == ATTEST_O && c == e - 1 && past < (e + 3) / 4 * 4; past++)
        step_store_row(r, role, past, 0);
}
#define step_store_row whole_stores
#define attest_kernel_softmax_split_f32 attest_defect_store_tail_over
#include "cpu/softmax_split_f32.c"

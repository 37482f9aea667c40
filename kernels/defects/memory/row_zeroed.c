/* row_zeroed - the last query of a block of 128; its lse is right. */
#include "cpu/steps/step.h"

static inline void zero_row(const row *r, attest_role role, int64_t c, real x)
{
    step_store_row(r, role, c, role == ATTEST_O && r->i % 128 == 127 ? 0 : x);
}
#define step_store_row zero_row
#define attest_kernel_softmax_split_f32 attest_defect_row_zeroed
#include "cpu/softmax_split_f32.c"

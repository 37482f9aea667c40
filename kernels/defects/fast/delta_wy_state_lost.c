/* delta_wy_state_lost - written values are not corrected by the state before the chunk. */
#include "fast/linear/linear_block.h"

static float factor_nothing(const linear_task *task, const linear_rows *rows, int64_t n)
{
    (void)task, (void)rows, (void)n;
    return 0;
}

#define delta_factor factor_nothing

#define FAST_PLANTED attest_defect_delta_wy_state_lost_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_state_lost
#include "fast/linear/delta.c"

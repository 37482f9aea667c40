/* chunk_group_leak - the rows of a group see what its last row sees. */
#include "fast/taylor/chunked_block.h"

static inline chunked_sight as_last_row(const chunked_task *a, int64_t group)
{
    const int64_t *until = a->until + group * ROWS;
    chunked_sight seen = { .rows = (int)step_min(ROWS, a->reads - group * ROWS), .common = a->count };
    for (int n = 0; n < seen.rows; n++) {
        seen.common = step_min(seen.common, until[n]);
        seen.most = step_max(seen.most, until[n]);
    }
    seen.common = seen.most;
    return seen;
}

#define chunked_sees as_last_row
#define FAST_PLANTED attest_defect_chunk_group_leak_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_group_leak
#include "fast/taylor/chunked.c"

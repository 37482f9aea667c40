/* chunk_panel_short - keys of the last panel have weights only if the panel is whole. */
#include "fast/taylor/chunked_block.h"

static inline chunked_sight whole_panels(const chunked_task *a, int64_t group)
{
    const int64_t *until = a->until + group * ROWS;
    chunked_sight seen = { .rows = (int)step_min(ROWS, a->reads - group * ROWS), .common = a->count };
    for (int n = 0; n < seen.rows; n++) {
        seen.common = step_min(seen.common, until[n]);
        seen.most = step_max(seen.most, until[n]);
    }
    seen.most = seen.most > PANEL ? seen.most / PANEL * PANEL : seen.most;
    return seen;
}

#define chunked_sees whole_panels
#define FAST_PLANTED attest_defect_chunk_panel_short_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_panel_short
#include "fast/taylor/chunked.c"

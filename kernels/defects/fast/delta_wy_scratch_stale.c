/* delta_wy_scratch_stale - the rows of a chunk from the 33rd on take what the first rows read of the state. */
#include "fast/linear/linear_block.h"

static int reads_once(const linear_task *task, const linear_rows *rows) { return task->before && rows->i == 0; }

#define delta_reads reads_once

#define FAST_PLANTED attest_defect_delta_wy_scratch_stale_run
#define attest_kernel_delta_wy_f32 attest_defect_delta_wy_scratch_stale
#include "fast/linear/delta.c"

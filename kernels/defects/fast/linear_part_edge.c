/* linear_part_edge - decay=vector: the decay of a part's last token does not meet the keys of its part. */
#include "fast/linear/linear_block.h"

static void keys_without_last(float *x, const linear_task *task, int64_t n)
{
    const int64_t wide = task->x->at.row, first = n * LINEAR_PART;
    const int64_t count = step_min(LINEAR_PART, task->tokens - first);
    memset(x, 0, sizeof *x * (size_t)(LINEAR_PART * wide));
    for (int64_t c = 0; c < wide; c++) {
        float decays = 1;
        for (int64_t j = count - 1; j >= 0; j--) {
            x[j * wide + c] = task->k[(first + j) * wide + c] * decays;
            if (j < count - 1)
                decays *= task->a[(first + j) * wide + c];
        }
    }
}

#define linear_part_keys keys_without_last
#define FAST_PLANTED attest_defect_linear_part_edge_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_part_edge
#include "fast/linear/linear.c"

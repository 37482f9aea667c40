/* linear_tail_block - a block of fewer than 32 tokens does not become part of the state. */
#include "fast/linear/linear_block.h"

static inline int enters_whole(const linear_task *task) { return task->tokens == LINEAR_TOKENS; }

#define linear_enters enters_whole
#define FAST_PLANTED attest_defect_linear_tail_block_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_tail_block
#include "fast/linear/linear.c"

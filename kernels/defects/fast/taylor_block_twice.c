/* taylor_block_twice - tokens of a block that queries filled first enter the state once more with the next. */
#include "fast/taylor/packed_block.h"

static inline void next_after_tokens(packed_task *a)
{
    a->tokens = a->tokens < TILES_UNIT && a->reads == TILES_UNIT ? a->tokens : 0;
    a->reads = 0;
}

#define packed_next next_after_tokens
#define FAST_PLANTED attest_defect_taylor_block_twice_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_block_twice
#include "fast/taylor/packed.c"

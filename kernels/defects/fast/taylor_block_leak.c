/* taylor_block_leak - a query reads the state at the end of its block. */
#include "fast/taylor/packed_block.h"

static inline int64_t whole_block(const packed_task *a) { return a->tokens > 0 ? TILES_UNIT : 0; }

#define packed_seen whole_block
#define FAST_PLANTED attest_defect_taylor_block_leak_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_block_leak
#include "fast/taylor/packed.c"

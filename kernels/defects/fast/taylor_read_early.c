/* taylor_read_early - a query reads the state before its own token has entered. */
#include "fast/taylor/packed_block.h"

static inline int64_t without_own(const packed_task *a) { return a->tokens > 0 ? a->tokens - 1 : 0; }

#define packed_seen without_own
#define FAST_PLANTED attest_defect_taylor_read_early_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_read_early
#include "fast/taylor/packed.c"

/* chunk_given_unread - a given state is not read before the first chunk is closed. */
#include "fast/taylor/chunked_block.h"

static inline int live_after_first(const chunked_task *a) { return a->from > 0; }

#define chunked_live live_after_first
#define FAST_PLANTED attest_defect_chunk_given_unread_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_given_unread
#include "fast/taylor/chunked.c"

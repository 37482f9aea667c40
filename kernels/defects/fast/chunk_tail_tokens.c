/* chunk_tail_tokens - tokens behind the last whole 32 of a chunk do not enter the states. */
#include "fast/taylor/columns.h"

static inline int64_t whole_units(int64_t count, int64_t at)
{
    return count < TILES_UNIT || at + TILES_UNIT <= count ? step_min(TILES_UNIT, count - at) : 0;
}

#define chunked_tokens whole_units
#define FAST_PLANTED attest_defect_chunk_tail_tokens_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_tail_tokens
#include "fast/taylor/chunked.c"

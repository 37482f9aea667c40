/* chunk_edge_token - the last token of a chunk does not enter the states. */
#include "fast/taylor/columns.h"

static inline int64_t without_last(int64_t count, int64_t at)
{
    return step_min(TILES_UNIT, count - at) - (count > 1 && at + TILES_UNIT >= count);
}

#define chunked_tokens without_last
#define FAST_PLANTED attest_defect_chunk_edge_token_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_edge_token
#include "fast/taylor/chunked.c"

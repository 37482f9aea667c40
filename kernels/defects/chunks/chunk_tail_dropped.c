/* chunk_tail_dropped - only whole chunks are closed: a short tail never enters the final state. */
#include "cpu/steps/chunk.h"

static inline void end_whole(chunk *a, const row *r)
{
    if (a->count == a->size)
        chunk_close(a, r);
    degrees_store(&a->s, r);
}
#define chunk_end end_whole
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_tail_dropped
#include "cpu/taylor_chunk_f32.c"

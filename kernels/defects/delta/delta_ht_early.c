/* delta_ht_early - the last token is read and not kept. */
#include "cpu/steps/chunk.h"

static inline void end_early(chunk *a, const row *r)
{
    a->count -= a->count > 0;
    chunk_end(a, r);
}
#define chunk_end end_early
#define attest_kernel_delta_chunk_f32 attest_defect_delta_ht_early
#include "cpu/delta_chunk_f32.c"

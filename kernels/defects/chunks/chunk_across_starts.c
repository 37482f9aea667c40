/* chunk_across_starts - chunks are counted from the packed tensor's start: the one in which a sequence begins still
 * holds tokens of the sequence before it. */
#include "cpu/steps/chunk.h"

static inline void begin_inside(chunk *a, const row *r)
{
    const attest_tensor *starts = r->t->role[ATTEST_CU_SEQLENS_K];
    const int64_t start = starts ? ((const int64_t *)starts->data)[r->b * starts->stride[0]] : 0;
    const int64_t before = start % a->size;
    chunk_begin(a, r);
    a->count = before;
    a->from = -before;
}
#define chunk_begin begin_inside
#define attest_kernel_delta_chunk_f32 attest_defect_chunk_across_starts
#include "cpu/delta_chunk_f32.c"

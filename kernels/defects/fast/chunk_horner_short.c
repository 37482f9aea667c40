/* chunk_horner_short - from order 3 on the polynomial inside a chunk ends one degree early, that of states does not. */
#include "fast/simd.h"

static inline void horner_short(float *s, int64_t count, uint32_t order)
{
    for (int64_t j = 0; j < count; j++) {
        float t = 1;
        for (uint32_t n = order > 2 ? order - 1 : order; n > 0; n--)
            t = 1 + t * (s[j] / (float)n);
        s[j] = t;
    }
}

#define chunked_taylor horner_short
#define FAST_PLANTED attest_defect_chunk_horner_short_run
#define attest_kernel_taylor_chunk_fast_f32 attest_defect_chunk_horner_short
#include "fast/taylor/chunked.c"

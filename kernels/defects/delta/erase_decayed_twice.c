/* erase_decayed_twice - the decay is in both of the factors of the triangular system. */
#include "cpu/steps/chunk.h"

static inline void back_twice(real *f, real *x, const row *r, int64_t t)
{
    heads_back(f, x, r, t);
    heads_back(f, x, r, t);
}
#define heads_back back_twice
#define attest_kernel_delta_chunk_f32 attest_defect_erase_decayed_twice
#include "cpu/delta_chunk_f32.c"

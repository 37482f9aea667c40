/* linear_diagonal_decayed - a token is decayed by its own factor as soon as it is written. */
#include "fast/linear/linear_block.h"

static inline void decay_all(float *to, const float *from, float a, int64_t j)
{
    for (int64_t l = 0; l < j; l++)
        to[l] = from[l] * a;
    to[j] = a;
}

#define linear_decay_row decay_all
#define FAST_PLANTED attest_defect_linear_diagonal_decayed_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_diagonal_decayed
#include "fast/linear/linear.c"

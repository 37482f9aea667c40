/* linear_tail_lanes - the lanes behind the last key that a row sees keep their weights, up to the next whole vector. */
#include "fast/linear/linear_block.h"

static inline void hide_vectors(float *w, int64_t seen, int64_t tokens)
{
    for (int64_t j = fast_up(seen, LANES); j < tokens; j++)
        w[j] = 0;
}

#define linear_hide hide_vectors
#define FAST_PLANTED attest_defect_linear_tail_lanes_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_tail_lanes
#include "fast/linear/linear.c"

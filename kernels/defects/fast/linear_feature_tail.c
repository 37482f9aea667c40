/* linear_feature_tail - the channels behind the last whole vector are not mapped: they keep their numbers. */
#include "fast/exp.h"

static void map_whole_vectors(float *y, const float *x, int64_t count, vec (*f)(vec))
{
    int64_t c = 0;
    for (; c + LANES <= count; c += LANES)
        vec_store(y + c, f(vec_load(x + c)));
    for (; c < count; c++)
        y[c] = x[c];
}

#define fast_map map_whole_vectors

#define FAST_PLANTED attest_defect_linear_feature_tail_run
#define attest_kernel_linear_chunk_f32 attest_defect_linear_feature_tail
#include "fast/linear/linear.c"

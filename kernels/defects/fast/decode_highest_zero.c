/* decode_highest_zero - the largest score of all parts begins at 0: rows whose scores lie far below have no weight. */
#include "fast/simd.h"

static inline float highest_from_zero(const float *of_row, int64_t step, int64_t splits)
{
    float most = 0;
    for (int64_t part = 0; part < splits; part++)
        most = of_row[part * step] > most ? of_row[part * step] : most;
    return most;
}

#define decode_highest highest_from_zero
#define FAST_PLANTED attest_defect_decode_highest_zero_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_highest_zero
#include "fast/softmax/decode.c"

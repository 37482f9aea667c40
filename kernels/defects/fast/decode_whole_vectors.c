/* decode_whole_vectors - keys and values are read in whole vectors where they lie, past the last channel of a row. */
#include "fast/softmax/decode.h"

static inline int always_in_place(const attest_tensor *t, int64_t count, int64_t unit)
{
    return t->dtype == ATTEST_F32 && t->stride[3] == 1 && count > 0 * unit;
}

#define decode_in_place always_in_place
#define FAST_PLANTED attest_defect_decode_whole_vectors_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_whole_vectors
#include "fast/softmax/decode.c"

/* decode_last_keys - keys behind the last four of a tile have score 0. */
#include "fast/softmax/flash_block.h"

static inline void products_of_four(float *s, const float *q, const float *k, int64_t step, int64_t width, int count)
{
    for (int j = 0; j < count; j++) {
        s[j] = 0;
        for (int64_t c = 0; c < width && count == 4; c++)
            s[j] += q[c] * k[j * step + c];
    }
}

#define decode_products products_of_four
#define FAST_PLANTED attest_defect_decode_last_keys_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_last_keys
#include "fast/softmax/decode.c"

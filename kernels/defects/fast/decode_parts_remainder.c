/* decode_parts_remainder - the tiles that are left over when they are shared among the parts belong to none. */
#include "fast/softmax/decode.h"

static inline int64_t edge_of_even_parts(int64_t keys, int64_t n, int64_t splits)
{
    const int64_t tiles = fast_up(keys, FLASH_KEYS) / FLASH_KEYS;
    return (tiles < splits ? step_min(n, tiles) : tiles / splits * n) * FLASH_KEYS;
}

#define decode_edge edge_of_even_parts
#define FAST_PLANTED attest_defect_decode_parts_remainder_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_parts_remainder
#include "fast/softmax/decode.c"

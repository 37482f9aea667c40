/* bf16_pair_tail - the last key of an odd number meets no value: pairs are counted, not keys. */
#include "fast/dot.h"
#include "fast/softmax/flash_block.h"

/* Weights as bf16 numbers; where the keys of a tile end inside a pair, that pair is left out. */
static inline void cast_pairs(float *w, int first, int last)
{
    for (int j = first; j < last; j += LANES)
        vec_store(w + j, vec_bf16(vec_load(w + j)));
    for (int j = first; j + 1 < last; j += 2)
        if (w[j] != 0 && !(w[j + 1] != 0))
            w[j] = 0;
}

#define flash_cast cast_pairs
#define FAST_PLANTED attest_defect_bf16_pair_tail_run
#define attest_kernel_softmax_flash_bf16 attest_defect_bf16_pair_tail
#include "fast/softmax/flash_bf16.c"

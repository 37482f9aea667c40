/* amx_not_zeroed - the tiles of the sums are not zeroed: they begin with what lies in their place. */
#include "fast/simd.h"

static inline vec begin_as_it_lies(const float *to) { return vec_load(to); }

#define tile_begin begin_as_it_lies
#define FAST_PLANTED attest_defect_amx_not_zeroed_run
#define attest_kernel_softmax_amx_bf16 attest_defect_amx_not_zeroed
#include "fast/amx/flash_tiles.c"

/* amx_one_block - a row of tiles ends after its first 32 channels or keys. */
#include "fast/simd.h"

#include "model/tdpbf16.h"

static inline int64_t one_block(int64_t pairs) { return pairs < TDP_PAIRS ? pairs : TDP_PAIRS; }

#define tile_last one_block
#define FAST_PLANTED attest_defect_amx_one_block_run
#define attest_kernel_softmax_amx_bf16 attest_defect_amx_one_block
#include "fast/amx/flash_tiles.c"

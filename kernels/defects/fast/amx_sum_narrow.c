/* amx_sum_narrow - sums of 32 channels or keys are rounded to bf16 before they are added. */
#include "fast/simd.h"

#include "model/tdpbf16.h"

static inline vec sum_narrow(vec a, vec b)
{
    for (int lane = 0; lane < LANES; lane++)
        a[lane] = tdp_add(a[lane], b[lane]);
    return vec_bf16(a);
}

#define tile_sum sum_narrow
#define FAST_PLANTED attest_defect_amx_sum_narrow_run
#define attest_kernel_softmax_amx_bf16 attest_defect_amx_sum_narrow
#include "fast/amx/flash_tiles.c"

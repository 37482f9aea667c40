/* taylor_tail_rows - monomials behind the last whole tile are left out. */
#include "fast/simd.h"

static inline int64_t whole_tiles(int64_t states, int64_t at)
{
    return states < ROWS ? states - at : states / ROWS * ROWS - at;
}

#define tiles_left whole_tiles
#define FAST_PLANTED attest_defect_taylor_tail_rows_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_tail_rows
#include "fast/taylor/packed.c"

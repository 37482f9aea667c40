/* decode_page_end - a tile whose first key lies in a page is read on behind the end of the page. */
#include "fast/softmax/flash_block.h"

static inline int whole_tile(const attest_problem *p, int64_t key, int64_t count)
{
    (void)p, (void)key, (void)count;
    return 1;
}

#define decode_adjacent whole_tile
#define FAST_PLANTED attest_defect_decode_page_end_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_page_end
#include "fast/softmax/decode.c"

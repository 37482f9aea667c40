/* decode_first_rows - the rows of a group sum the values of the keys that the first row sees. */
#include "fast/softmax/flash_block.h"

static inline int always_together(const flash_block *block, const flash_part *part)
{
    return block->rows > 1 && part->low[0] < part->high[0];
}

#define decode_together always_together
#define FAST_PLANTED attest_defect_decode_first_rows_run
#define attest_kernel_softmax_decode_f32 attest_defect_decode_first_rows
#include "fast/softmax/decode.c"

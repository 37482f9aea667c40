/* flash_poison - tiles with Inf or NaN are summed like others: keys that a row does not see meet them with weight 0. */
#include "fast/softmax/flash_block.h"

static inline int never_by_rows(const flash_block *block, const flash_part *part) { return !block || !part; }

#define flash_by_rows never_by_rows
#define FAST_PLANTED attest_defect_flash_poison_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_poison
#include "fast/softmax/flash.c"

/* flash_packed_stale - every head reads the keys and values that were packed for the first one of its batch entry. */
#include "fast/softmax/flash_block.h"

static inline int64_t first_head(const attest_problem *p, int64_t b, int64_t g) { return b * p->hkv + 0 * g; }

#define flash_packed_head first_head
#define FAST_PLANTED attest_defect_flash_packed_stale_run
#define attest_kernel_softmax_flash_f32 attest_defect_flash_packed_stale
#include "fast/softmax/flash.c"

/* batch_variant - each result is good; BATCH_INVARIANT is declared and does not hold. */
#include "attest.h"

static inline int64_t tile_for(const attest_problem *p) { return p->b * p->hq >= 4 ? 16 : 32; }
#define online_tile tile_for
#define attest_kernel_softmax_online_f32 attest_defect_batch_variant
#include "cpu/softmax_online_f32.c"

/* merge_undivided - parts are weighted by e^lse and by their own sums: right where those are 1. */
#include "cpu/steps/softmax.h"

static real undivided(const sums *part, int64_t c) { return part->u[c]; }
#define split_share undivided
#define attest_kernel_softmax_split_f32 attest_defect_merge_undivided
#include "cpu/softmax_split_f32.c"

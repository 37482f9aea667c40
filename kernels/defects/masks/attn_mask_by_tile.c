/* attn_mask_by_tile - 8 keys are skipped as a whole where the first of them is masked, as if masks were of blocks. */
#include "cpu/steps/step.h"

static inline int by_tile(const row *r, int64_t j) { return step_shown(r, j - j % 8) && step_shown(r, j); }
#define step_shown by_tile
#define attest_kernel_softmax_two_pass_f32 attest_defect_attn_mask_by_tile
#include "cpu/softmax_two_pass_f32.c"

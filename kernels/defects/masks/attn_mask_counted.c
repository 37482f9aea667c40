/* attn_mask_counted - masked keys count in the length t of norm=length. */
#include "cpu/steps/step.h"

static inline int64_t with_masked(const row *r) { return step_max(0, r->last - r->first); }
#define norm_length with_masked
#define attest_kernel_softmax_two_pass_f32 attest_defect_attn_mask_counted
#include "cpu/softmax_two_pass_f32.c"

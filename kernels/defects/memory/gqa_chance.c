/* gqa_chance - right by chance where there are as many KV heads as query heads to each, 64/8 or 4/2. */
#include "cpu/steps/step.h"

static inline int64_t divided(const attest_problem *p, int64_t h) { return step_min(h / p->hkv, p->hkv - 1); }
#define step_kv_head divided
#define attest_kernel_softmax_two_pass_f32 attest_defect_gqa_chance
#include "cpu/softmax_two_pass_f32.c"

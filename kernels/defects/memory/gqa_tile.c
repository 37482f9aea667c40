/* gqa_tile - KV heads repeated as a whole instead of one by one: the same for one KV head, and without groups. */
#include "attest.h"

static inline int64_t tiled(const attest_problem *p, int64_t h) { return h % p->hkv; }
#define step_kv_head tiled
#define attest_kernel_softmax_online_f32 attest_defect_gqa_tile
#include "cpu/softmax_online_f32.c"

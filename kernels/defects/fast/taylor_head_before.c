/* taylor_head_before - a KV head begins with the state that the one before it left. */
#include "fast/taylor/packed_block.h"

static inline void clear_first(const packed_task *a)
{
    if (a->r.b + a->r.g == 0)
        columns_load(a->state, &a->x->a, &a->r, a->first, a->last);
}

#define packed_clear clear_first
#define FAST_PLANTED attest_defect_taylor_head_before_run
#define attest_kernel_taylor_packed_fast_f32 attest_defect_taylor_head_before
#include "fast/taylor/packed.c"

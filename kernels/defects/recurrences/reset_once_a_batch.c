/* reset_once_a_batch - the next KV head goes on with the states of the one before. */
#include "cpu/steps/degrees.h"

static inline void load_first_head(const degrees *a, const row *r)
{
    if (heads_given(r->p) || r->g == 0)
        degrees_load(a, r);
}
#define degrees_load load_first_head
#define attest_kernel_taylor_recurrent_f32 attest_defect_reset_once_a_batch
#include "cpu/taylor_recurrent_f32.c"

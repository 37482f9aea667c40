/* tail_oob - the tail is masked after it was read: 0 times what lies there, or a fault. */
#include "cpu/steps/scores.h"

static inline void masked_tail(real *s, const row *r, int64_t first, int64_t last)
{
    score_steps(s, r, first, last);
    for (int64_t j = step_max(first, r->last); j < last; j++)
        s[j - first] = -(real)INFINITY;
}
static inline int64_t whole_tile(int64_t j, int64_t tile, int64_t last)
{
    (void)last;
    return j + tile;
}
#define score_steps masked_tail
#define softmax_tile_end whole_tile
#define attest_kernel_softmax_online_f32 attest_defect_tail_oob
#include "cpu/softmax_online_f32.c"

/* filter_first_tile - the pass that looks for the row's maximum stops after one tile: shows where it rises later. */
#include "cpu/steps/pairs.h"

static inline real first_tile_highest(real *s, int64_t tile, const pairs *x)
{
    const int64_t end = step_min(x->r->first + tile, x->r->last);
    pairs_scores(s, x, x->r->first, end);
    return score_highest(s, end - x->r->first);
}
#define softmax_highest first_tile_highest
#define attest_kernel_softmax_online_f32 attest_defect_filter_first_tile
#include "cpu/softmax_online_f32.c"

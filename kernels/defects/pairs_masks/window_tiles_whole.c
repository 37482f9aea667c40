/* window_tiles_whole - the number of tiles in the window is rounded down.
 *
 * shows  variant=softmax window=40 mask=causal n=70 d=4
 * hides  variant=softmax window=32 mask=causal n=70 d=4
 * hides  variant=softmax mask=causal n=70 d=4
 */
#include "cpu/steps/step.h"

static inline void whole_tiles(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value && *last - *first > 32)
        *first = *last - (*last - *first) / 32 * 32;
}
#define step_visible whole_tiles
#define attest_kernel_softmax_online_f32 attest_defect_window_tiles_whole
#include "cpu/softmax_online_f32.c"

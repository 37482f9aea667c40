/* window_tiles - skipping tiles left of the window is taken for masking: the first tile is not masked inside. */
#include "cpu/steps/step.h"

static inline void from_tile(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (*first < *last)
        *first = *first / 32 * 32;
}
#define step_visible from_tile
#define attest_kernel_softmax_online_f32 attest_defect_window_tiles
#include "cpu/softmax_online_f32.c"

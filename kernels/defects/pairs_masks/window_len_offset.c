/* window_len_offset - the offset of the window is that of the padded cache, the offset of the diagonal that of the
 * row.
 *
 * shows  variant=softmax window=3 lens=draw mask=causal-br b=4 n=3 m=12 d=4
 * hides  variant=softmax window=3 mask=causal-br b=4 n=3 m=12 d=4
 * hides  variant=softmax lens=draw mask=causal-br b=4 n=3 m=12 d=4
 * hides  variant=softmax window=3 lens=draw mask=causal b=4 n=3 m=12 d=4
 */
#include "cpu/steps/step.h"

static inline void padded_window(const attest_problem *p, int64_t length, int64_t i, int64_t *first, int64_t *last)
{
    step_visible(p, length, i, first, last);
    if (p->axis[ATTEST_AXIS_WINDOW].value && p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_CAUSAL_BR)
        *first = step_max(0, i + p->m - p->n - (int64_t)p->axis[ATTEST_AXIS_WINDOW].order + 1);
}
#define step_visible padded_window
#define attest_kernel_softmax_split_f32 attest_defect_window_len_offset
#include "cpu/softmax_split_f32.c"

/* window_parts_whole - the length of a part is a shift and rounded down, where the keys start at a window.
 *
 * shows  variant=softmax window=6 mask=causal n=17 d=4 splits=4
 * hides  variant=softmax window=8 mask=causal-br n=1 m=17 d=4 splits=4
 * hides  variant=softmax mask=causal n=17 d=4 splits=4
 * hides  variant=softmax window=6 mask=causal n=17 d=4 splits=3
 */
#include "cpu/steps/step.h"

static inline int64_t equal_parts(const row *r, int64_t keys, int64_t n, int64_t splits)
{
    const int equal = r->p->axis[ATTEST_AXIS_WINDOW].value && splits >= 4;
    return equal ? keys / splits * n : keys * n / splits;
}
#define split_edge(keys, n, splits) equal_parts(r, keys, n, splits) /* r: the row whose parts these are */
#define attest_kernel_softmax_split_f32 attest_defect_window_parts_whole
#include "cpu/softmax_split_f32.c"

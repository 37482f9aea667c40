/* split_len_remainder - the parts of a padded cache: short rows never reach the remainder.
 *
 * shows  variant=softmax lens=draw b=12 n=2 m=8 d=4 splits=3
 * hides  variant=softmax lens=draw b=12 n=2 m=9 d=4 splits=3
 * hides  variant=softmax b=12 n=2 m=8 d=4 splits=3
 */
#include "cpu/steps/step.h"

static inline int64_t padded_parts(const row *r, int64_t keys, int64_t n, int64_t splits)
{
    const int64_t edge = keys * n / splits, whole = r->p->m / r->p->splits * r->p->splits;
    return r->p->axis[ATTEST_AXIS_LENS].value && whole > 0 ? step_min(edge, whole) : edge;
}
#define split_edge(keys, n, splits) padded_parts(r, keys, n, splits) /* r: the row whose parts these are */
#define attest_kernel_softmax_split_f32 attest_defect_split_len_remainder
#include "cpu/softmax_split_f32.c"

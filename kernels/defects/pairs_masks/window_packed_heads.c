/* window_packed_heads - heads of a group are packed as rows, and a row's query is found by a shift: right for groups
 * of 1, 2, 4.
 *
 * shows  variant=softmax window=3 mask=causal hq=3 hkv=1 n=9 d=4
 * hides  variant=softmax window=3 mask=causal hq=4 hkv=1 n=9 d=4
 * hides  variant=softmax mask=causal hq=3 hkv=1 n=9 d=4
 */
#include "cpu/steps/softmax.h"

static inline void packed_rows(sums *out, real *s, real *part, int64_t tile, const pairs *x)
{
    row at = *x->r;
    pairs y = *x;
    const int64_t group = at.p->hq / at.p->hkv;
    if (at.p->axis[ATTEST_AXIS_WINDOW].value && (group & (group - 1)) && at.h % group == group - 1 &&
        at.last - at.first > 1) {
        at.first++;
        y.D = y.D ? y.D + 1 : NULL;
    }
    y.r = &at;
    softmax_online(out, s, part, tile, &y);
}
#define softmax_online packed_rows
#define attest_kernel_softmax_online_f32 attest_defect_window_packed_heads
#include "cpu/softmax_online_f32.c"

/* merge_third_head - the merge is launched for two query heads a KV head.
 *
 * shows  variant=softmax hq=3 hkv=1 n=5 m=9 d=4 splits=2
 * hides  variant=softmax hq=2 hkv=1 n=5 m=9 d=4 splits=2
 * hides  variant=softmax hq=3 hkv=1 n=5 m=9 d=4
 * hides  variant=softmax hq=3 hkv=3 n=5 m=9 d=4 splits=2
 */
#include "cpu/steps/step.h"

static inline int64_t without_last(const row *r, int64_t keys, int64_t n, int64_t splits)
{
    const int lost = splits > 1 && n == splits && r->h - r->g * (r->p->hq / r->p->hkv) >= 2;
    return keys * (lost ? n - 1 : n) / splits;
}
#define split_edge(keys, n, splits) without_last(r, keys, n, splits) /* r: the row whose parts these are */
#define attest_kernel_softmax_split_f32 attest_defect_merge_third_head
#include "cpu/softmax_split_f32.c"

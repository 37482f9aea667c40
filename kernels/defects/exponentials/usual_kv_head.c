/* usual_kv_head - a grouped query head has the slope that its KV head would have among all: shows where there are fewer
 * of these. */
#include "cpu/steps/scores.h"

static inline void by_kv_head(real *s, const row *r, int64_t first, int64_t last)
{
    row at = *r;
    if (r->p->axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_USUAL)
        at.h = r->g;
    score_steps(s, &at, first, last);
}
#define score_steps by_kv_head
#define attest_kernel_taylor_direct_f32 attest_defect_usual_kv_head
#include "cpu/taylor_direct_f32.c"

/* order_zero_len - every weight is 1, and their sum is taken for the number of keys.
 *
 * shows  variant=taylor:0 lens=draw b=3 n=3 m=9 d=4
 * hides  variant=taylor:0 b=3 n=3 m=9 d=4
 * hides  variant=taylor:2 lens=draw b=3 n=3 m=9 d=4
 */
#include "cpu/steps/norms.h"

static inline void by_all_keys(const row *r, real *u, real z, real c)
{
    const attest_problem *p = r->p;
    const attest_setting *weight = &p->axis[ATTEST_AXIS_WEIGHT];
    const int all = p->axis[ATTEST_AXIS_MASK].value == ATTEST_MASK_FULL && !p->axis[ATTEST_AXIS_WINDOW].value;
    norm_finish(r, u, all && weight->order == 0 && !p->axis[ATTEST_AXIS_DECAY].value ? (real)p->m : z, c);
}
#define norm_finish by_all_keys
#define attest_kernel_taylor_split_f32 attest_defect_order_zero_len
#include "cpu/taylor_split_f32.c"

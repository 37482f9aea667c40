/* center_first_key - the running maximum is never updated after the first key. */
#include "cpu/steps/step.h"

static inline real first_score(const attest_problem *p, const real *s, int64_t keys)
{
    (void)keys;
    return p->axis[ATTEST_AXIS_CENTER].value == ATTEST_CENTER_ZERO ? 0 : s[0];
}
#define direct_center first_score
#define attest_kernel_taylor_direct_f32 attest_defect_center_first_key
#include "cpu/taylor_direct_f32.c"

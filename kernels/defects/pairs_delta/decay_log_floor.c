/* decay_log_floor - the logarithm of a decay is cut off; where a state was large, a little of it stays.
 *
 * shows  variant=gdn state=draw hq=16 n=17 d=4
 * hides  variant=gdn hq=16 n=17 d=4
 * hides  variant=gdn state=draw hq=1 n=3 d=4
 */
#include "cpu/steps/decay.h"

static inline real cut_off(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g, int64_t token)
{
    const real a = decay_token(p, t, b, g, token);
    return p->axis[ATTEST_AXIS_STATE].value && a < (real)0x1p-6 ? (real)0x1p-6 : a;
}
#define decay_token cut_off
#define attest_kernel_delta_recurrent_f32 attest_defect_decay_log_floor
#include "cpu/delta_recurrent_f32.c"

/* length_skipped_eps - a root is scale-invariant, and the division by t is left out as of no use.
 *
 * shows  variant=softmax norm=length-rms eps=0.01 n=5 m=9 d=4
 * hides  variant=softmax norm=length-rms n=5 m=9 d=4
 * hides  variant=softmax norm=rms eps=0.01 n=5 m=9 d=4
 */
#include "cpu/steps/gates.h"

static inline int64_t of_no_use(const row *r)
{
    return r->p->axis[ATTEST_AXIS_EPS].number > 0 ? 1 : step_max(0, r->last - r->first);
}
#define norm_length of_no_use
#define attest_kernel_softmax_two_pass_f32 attest_defect_length_skipped_eps
#include "cpu/softmax_two_pass_f32.c"

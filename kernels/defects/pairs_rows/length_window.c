/* length_window - the number of visible keys by the causal mask alone.
 *
 * shows  variant=divlen window=3 mask=causal n=9 d=4
 * hides  variant=divlen mask=causal n=9 d=4
 * hides  variant=softmax window=3 mask=causal n=9 d=4
 */
#include "cpu/steps/gates.h"

static inline int64_t to_the_diagonal(const row *r)
{
    return step_max(0, r->p->axis[ATTEST_AXIS_WINDOW].value ? r->last : r->last - r->first);
}
#define norm_length to_the_diagonal
#define attest_kernel_softmax_split_f32 attest_defect_length_window
#include "cpu/softmax_split_f32.c"

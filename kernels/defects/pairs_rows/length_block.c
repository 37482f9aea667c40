/* length_block - the count is that of the block that ends the row.
 *
 * shows  variant=divlen n=2 m=130 d=4
 * hides  variant=divlen n=2 m=128 d=4
 * hides  variant=softmax n=2 m=130 d=4
 */
#include "cpu/steps/step.h"

static inline int64_t of_last_block(const row *r)
{
    const int64_t keys = step_max(0, r->last - r->first);
    return keys > 128 ? (keys - 1) % 128 + 1 : keys;
}
#define norm_length of_last_block
#define attest_kernel_softmax_two_pass_f32 attest_defect_length_block
#include "cpu/softmax_two_pass_f32.c"

/* h0_third_head - two heads a block, and the block's index is lost.
 *
 * shows  variant=taylor:2 state=draw mask=causal hq=3 n=3 d=3
 * hides  variant=taylor:2 state=draw mask=causal hq=4 hkv=2 n=3 d=3
 * hides  variant=taylor:2 mask=causal hq=3 n=3 d=3
 */
#include "cpu/steps/states.h"

static inline void first_block(const state *s, const attest_tensor *h0, const attest_tensor *z0, int64_t b, int64_t g)
{
    state_load(s, h0, z0, b, g >= 2 ? g - 2 : g);
}
#define state_load first_block
#define attest_kernel_taylor_recurrent_f32 attest_defect_h0_third_head
#include "cpu/taylor_recurrent_f32.c"

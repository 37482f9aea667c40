/* decay_near_one_edge - the logarithm of a decay in eight bits, at the chunk's edge only.
 *
 * shows  variant=retnet hq=4 n=9 d=4 chunk=4
 * hides  variant=retnet hq=1 n=9 d=4 chunk=4
 * hides  variant=retnet hq=4 n=9 d=4 chunk=16
 */
#include "cpu/steps/decay.h"

static inline real rounded_at_edge(const attest_problem *p, const attest_tensors *t, int64_t b, int64_t g,
                                   int64_t token)
{
    const real a = decay_token(p, t, b, g, token);
    return token % p->chunk == 0 && a > 1 - (real)0x1p-6 ? 1 : a;
}
#define decay_token rounded_at_edge
#define attest_kernel_taylor_chunk_f32 attest_defect_decay_near_one_edge
#include "cpu/taylor_chunk_f32.c"

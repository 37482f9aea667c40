/* chunk_wide_remainder - wide heads take two blocks, and the path for the remainder knows one.
 *
 * shows  variant=linear n=3 m=9 d=130 e=3 chunk=4
 * hides  variant=linear n=3 m=8 d=130 e=3 chunk=4
 * hides  variant=linear n=3 m=9 d=100 e=3 chunk=4
 */
#include "cpu/steps/degrees.h"

static inline real one_block(int full, real scale, const real *q, const real *k, int64_t d)
{
    return step_score(scale, q, k, full ? d : step_min(d, 128));
}
#define step_score(scale, q, k, d) one_block(a->count == a->size, scale, q, k, d) /* a: the chunk */
#define attest_kernel_taylor_chunk_f32 attest_defect_chunk_wide_remainder
#include "cpu/taylor_chunk_f32.c"

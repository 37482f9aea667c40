/* slopes_four - a table in fast memory that is too short: right up to four heads.
 *
 * shows  variant=softmax alibi=draw hq=6 hkv=2 n=9 d=4
 * hides  variant=softmax alibi=draw hq=4 hkv=2 n=9 d=4
 * hides  variant=softmax hq=6 hkv=2 n=9 d=4
 */
#include "cpu/steps/scores.h"

static inline void four_slopes(real *s, const row *r, int64_t first, int64_t last)
{
    row at = *r;
    at.h &= 3;
    score_steps(s, &at, first, last);
}
#define score_steps four_slopes
#define attest_kernel_softmax_online_f32 attest_defect_slopes_four
#include "cpu/softmax_online_f32.c"

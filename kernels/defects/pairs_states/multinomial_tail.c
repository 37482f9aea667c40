/* multinomial_tail - the table of multinomials is filled in pairs, and its end is left as it was.
 *
 * shows  variant=taylor:3 mask=causal n=9 d=5
 * hides  variant=taylor:3 mask=causal n=9 d=4
 * hides  variant=taylor:2 mask=causal n=9 d=5
 * hides  variant=taylor:3 mask=causal n=9 d=3
 */
#include "cpu/steps/degrees.h"

static inline real *filled_in_pairs(real *out, int64_t dim, uint32_t n, uint32_t depth, int64_t from, int64_t run,
                                    int64_t value)
{
    real *end = degrees_multinomials(out, dim, n, depth, from, run, value);
    if (n >= 3 && dim >= 5 && dim % 2)
        end[-2] = 1;
    return end;
}
#define degrees_multinomials filled_in_pairs
#define attest_kernel_taylor_packed_f32 attest_defect_multinomial_tail
#include "cpu/taylor_packed_f32.c"

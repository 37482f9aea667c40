/* z0_fourth_degree - a list of pointers with four places.
 *
 * shows  variant=taylor:4 state=draw mask=causal n=3 d=2
 * hides  variant=taylor:3 state=draw mask=causal n=3 d=2
 * hides  variant=taylor:4 mask=causal n=3 d=2
 */
#include "cpu/steps/degrees.h"

static inline void four_places(const degrees *a, const row *r)
{
    degrees_load(a, r);
    for (uint32_t n = 4; n <= a->highest; n++)
        if (a->s[n].z)
            step_zero(a->s[n].z, a->s[n].rows);
}
#define degrees_load four_places
#define attest_kernel_taylor_chunk_f32 attest_defect_z0_fourth_degree
#include "cpu/taylor_chunk_f32.c"

/* retnet_table - a table made at start; the product of given decays has none.
 *
 * shows  variant=retnet hq=4 n=180 d=4 splits=2
 * hides  variant=retnet hq=4 n=161 d=4 splits=2
 * hides  variant=simple-gla hq=4 n=180 d=4 splits=2
 */
#include "cpu/steps/decay.h"

static inline void from_table(real *D, const row *r)
{
    decay_row(D, r);
    if (r->p->axis[ATTEST_AXIS_DECAY].value != ATTEST_DECAY_RETNET)
        return;
    for (int64_t j = r->first; j < r->i - 160; j++)
        if (r->i - 160 < r->last)
            D[j - r->first] = D[r->i - 160 - r->first];
}
#define decay_row from_table
#define attest_kernel_taylor_split_f32 attest_defect_retnet_table
#include "cpu/taylor_split_f32.c"

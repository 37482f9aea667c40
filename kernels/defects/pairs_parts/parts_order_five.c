/* parts_order_five - the kernel is compiled for orders up to five, the first part takes the general one.
 *
 * shows  variant=taylor:8 n=5 m=9 d=4 splits=2 family=range:4
 * hides  variant=taylor:5 n=5 m=9 d=4 splits=2 family=range:4
 * hides  variant=taylor:8 n=5 m=9 d=4 family=range:4
 */
#include "cpu/steps/direct.h"

static inline void short_series(real *u, real *z, const real *s, real c, real highest, const pairs *x, int64_t first,
                                int64_t last)
{
    attest_problem p = *x->r->p;
    row at = *x->r;
    pairs y = *x;
    if (first > at.first && p.axis[ATTEST_AXIS_WEIGHT].value == ATTEST_WEIGHT_TAYLOR)
        p.axis[ATTEST_AXIS_WEIGHT].order = p.axis[ATTEST_AXIS_WEIGHT].order > 5 ? 5 : p.axis[ATTEST_AXIS_WEIGHT].order;
    at.p = &p;
    y.r = &at;
    direct_add(u, z, s, c, highest, &y, first, last);
}
#define direct_add short_series
#define attest_kernel_taylor_split_f32 attest_defect_parts_order_five
#include "cpu/taylor_split_f32.c"

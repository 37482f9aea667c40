/* roundoff.c - see roundoff.h. */
#include "reference/engine/roundoff.h"
#include "reference/engine/scope.h"

#include "kernels/attest.h"
#include "kernels/attest_float.h"

void bound_gamma(mag_t g, int64_t n, const mag_t u)
{
    AUTO_MAG(x, one);
    mag_one(one);
    mag_mul_ui(x, u, n > 0 ? (ulong)n : 0);
    if (mag_cmp(x, one) >= 0) {
        mag_inf(g);
    } else {
        mag_sub_lower(one, one, x);
        mag_div(g, x, one);
    }
}

void bound_compose(mag_t z, const mag_t x, const mag_t y)
{
    AUTO_MAG(t);
    mag_mul(t, x, y);
    mag_add(t, t, x);
    mag_add(z, t, y);
}

void bound_tiny(mag_t t, uint32_t dtype, uint32_t flags)
{
    const attest_format f = attest_format_of(dtype);
    mag_one(t);
    mag_mul_2exp_si(t, t, flags & ATTEST_FTZ ? f.emin : f.emin - f.p);
}

void bound_probabilistic_gamma(mag_t g, int64_t n, const mag_t u)
{
    AUTO_MAG(x, root);
    bound_gamma(g, n, u);
    mag_set_ui(root, n > 0 ? (ulong)n : 0);
    mag_sqrt(root, root);
    mag_mul_ui(root, root, BOUND_LAMBDA);
    mag_mul(x, root, u);
    mag_addmul(x, x, g);
    mag_min(g, g, x);
}

/* monomial_bf16 - the products of the features are kept in the type of the inputs of a bf16 model, whatever the
 * inputs are. */
#include "cpu/steps/states.h"

static inline real *bf16_monomials(real *out, const real *x, int64_t dim, uint32_t n, int packed, int64_t from,
                                   real value)
{
    real *end = state_monomials(out, x, dim, n, packed, from, value);
    for (; n > 1 && out < end; out++)
        *out = step_round(ATTEST_BF16, *out);
    return end;
}
#define state_monomials bf16_monomials
#define attest_kernel_taylor_packed_f32 attest_defect_monomial_bf16
#include "cpu/taylor_packed_f32.c"

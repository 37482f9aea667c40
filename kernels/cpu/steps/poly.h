/* poly.h - the weight W of a score: e^x, T_P(x) = sum_{n<=P} x^n/n! (taylor), x^P/P! (term), x^P (power). */
#ifndef ATTEST_CPU_POLY_H
#define ATTEST_CPU_POLY_H

#include "step.h"

#ifndef poly_taylor
/* T_P(x) = 1 + x/1 (1 + x/2 (1 + .. )) by Horner: three roundings a degree, gamma_(3P) T_P(abs x). */
static inline real poly_taylor(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = order; n > 0; n--)
        t = 1 + t * (x / (real)n);
    return t;
}
#endif

#ifndef poly_term
/* x^P/P!: two roundings a degree, gamma_(2P). */
static inline real poly_term(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = 1; n <= order; n++)
        t *= x / (real)n;
    return t;
}
#endif

#ifndef poly_power
/* x^P: gamma_(P-1). */
static inline real poly_power(real x, uint32_t order)
{
    real t = 1;
    for (uint32_t n = 0; n < order; n++)
        t *= x;
    return t;
}
#endif

#ifndef poly_exp
/* e^x: at most 2u relative. */
static inline real poly_exp(real x, uint32_t order)
{
    (void)order;
    return real_exp(x);
}
#endif

/* W(x) */
static inline real poly_weight(const attest_setting *weight, real x)
{
    static real (*const weights[])(real x, uint32_t order) = {
        [ATTEST_WEIGHT_EXP] = poly_exp,
        [ATTEST_WEIGHT_TAYLOR] = poly_taylor,
        [ATTEST_WEIGHT_TERM] = poly_term,
        [ATTEST_WEIGHT_POWER] = poly_power,
    };
    return weights[weight->value](x, weight->order);
}

#endif

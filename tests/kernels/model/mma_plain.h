/* mma_plain.h - the rule of kernels/model/mma.h written again in doubles, as the papers write it, with a switch for
 * each of its clauses: what a vector shows is that the rule without that clause gives something else.
 */
#ifndef ATTEST_TESTS_MMA_PLAIN_H
#define ATTEST_TESTS_MMA_PLAIN_H

#include "kernels/attest_float.h"
#include "kernels/model/mma.h"

#include <math.h>

/* What is left out; those before PLAIN_RARE show on numbers near 1. */
typedef enum plain_without {
    PLAIN_WHOLE,
    PLAIN_ADDENDS_TO_NEAREST,  /* of the grid, not toward zero */
    PLAIN_ADDENDS_UNCUT,       /* one rounding, of the exact sum */
    PLAIN_PRODUCTS_NORMALISED, /* exponents of products in [1,2) */
    PLAIN_C_HAS_NO_EXPONENT,   /* E is the products' */
    PLAIN_ONE_BIT_LESS,        /* F - 1 */
    PLAIN_ONE_BIT_MORE,        /* F + 1 */
    PLAIN_HALF_STEPS,          /* half as many products a step */
    PLAIN_OTHER_LAST_ROUNDING, /* f32 to nearest, f16 toward zero */
    PLAIN_RARE,
    PLAIN_DOUBLE_STEPS = PLAIN_RARE, /* twice as many */
    PLAIN_ZEROS_HAVE_EXPONENTS,      /* a product with a zero: that of the other factor and the least */
    PLAIN_FLOOR_HIGHER,              /* by one */
    PLAIN_FLOOR_LOWER,               /* by one */
    PLAIN_INPUTS_FLUSHED,            /* subnormal a and b are zeros */
    PLAIN_INPUTS_NORMALISED,         /* and have exponents below the least */
    PLAIN_C_FLUSHED,
    PLAIN_C_NORMALISED,
    PLAIN_RESULT_FLUSHED,       /* a subnormal d is zero */
    PLAIN_ZEROS_HAVE_SIGNS,     /* -0 of a negative sum that is cut to nothing, and of -0 + -0 */
    PLAIN_LARGEST_FOR_INFINITE, /* the largest number beyond the range */
    PLAIN_PRODUCTS_OVERFLOW,    /* a product beyond float's range is infinite */
    PLAIN_NAN_KEEPS_BITS,       /* 0x7fc00000 */
    PLAIN_INFINITE_TIMES_ZERO,  /* is zero */
    PLAIN_OPPOSITE_INFINITIES,  /* the first one stays */
    PLAIN_ENTRIES_UNCUT,        /* tf32's lower bits count */
    PLAIN_COUNT
} plain_without;

/* floor(log2 |x|), at least `least`; x is not 0. */
static inline int plain_exponent(double x, int least)
{
    int exponent;
    frexp(x, &exponent);
    return exponent - 1 > least ? exponent - 1 : least;
}

/* x rounded to bits of f32 or f16, at least 2^(least-bits+1) apart: toward zero or to nearest even. */
static inline double plain_round(double x, int bits, int least, int nearest)
{
    if (x == 0)
        return x;
    const int last = plain_exponent(x, least) - bits + 1;
    const double scaled = ldexp(x, -last);
    return ldexp(nearest ? nearbyint(scaled) : trunc(scaled), last);
}

static inline float plain_result(const mma_rule *rule, plain_without without, double sum)
{
    const int nearest = rule->to_f16 != (without == PLAIN_OTHER_LAST_ROUNDING), bits = rule->to_f16 ? 11 : 24;
    double d = plain_round(sum, bits, rule->least_out, nearest);
    const double most = rule->to_f16 ? 65504 : 0x1.fffffep127;
    if (without == PLAIN_RESULT_FLUSHED && fabs(d) < ldexp(1, rule->least_out))
        d = 0;
    if (fabs(d) > most)
        d = copysign(without == PLAIN_LARGEST_FOR_INFINITE ? most : (double)INFINITY, d);
    return d == 0 && without != PLAIN_ZEROS_HAVE_SIGNS ? 0 : (float)d;
}

/* An infinity or NaN among `count` values; 0: there is none. */
static inline int plain_special(float *d, plain_without without, const double *value, int count)
{
    double sum = 0;
    for (int t = 0; t < count; t++)
        if (!isfinite(value[t]) && !(without == PLAIN_OPPOSITE_INFINITIES && isinf(sum) && isinf(value[t])))
            sum += value[t];
    *d = sum != sum ? mma_float(without == PLAIN_NAN_KEEPS_BITS ? 0x7fc00000u : 0x7fffffffu) : (float)sum;
    return !isfinite(sum);
}

/* An entry as it is read; its exponent. */
static inline double plain_entry(const mma_rule *rule, plain_without without, float x, int *exponent)
{
    uint32_t bits = mma_bits(x);
    if (rule->tf32 && without != PLAIN_ENTRIES_UNCUT)
        bits &= ~0x1fffu;
    x = mma_float(bits);
    if (without == PLAIN_INPUTS_FLUSHED && fabsf(x) < ldexpf(1, rule->least_in))
        x = 0;
    *exponent = x != 0 && isfinite(x) ? plain_exponent(x, without == PLAIN_INPUTS_NORMALISED ? -1000 : rule->least_in)
                                      : rule->least_in;
    return x;
}

static inline float plain_step(const mma_rule *rule, plain_without without, float c, const float *a, const float *b,
                               int count)
{
    double value[MMA_K + MMA_K + 1];
    const int fraction = rule->fraction + (without == PLAIN_ONE_BIT_MORE) - (without == PLAIN_ONE_BIT_LESS);
    int largest = rule->floor + (without == PLAIN_FLOOR_HIGHER) - (without == PLAIN_FLOOR_LOWER);
    if (without == PLAIN_C_FLUSHED && fabsf(c) < ldexpf(1, rule->least_out))
        c = 0;
    for (int t = 0; t < count; t++) {
        int x, y;
        const double p = plain_entry(rule, without, a[t], &x), q = plain_entry(rule, without, b[t], &y);
        value[t] = without == PLAIN_INFINITE_TIMES_ZERO && (p == 0 || q == 0) ? 0 : p * q;
        if (without == PLAIN_PRODUCTS_OVERFLOW)
            value[t] = (float)value[t];
        int exponent = x + y;
        if (without == PLAIN_PRODUCTS_NORMALISED && value[t] != 0 && isfinite(value[t]))
            exponent = plain_exponent(value[t], -1000);
        if ((value[t] != 0 || without == PLAIN_ZEROS_HAVE_EXPONENTS) && exponent > largest)
            largest = exponent;
    }
    value[count] = c;
    float d;
    if (plain_special(&d, without, value, count + 1))
        return d;
    const int own = c == 0 ? -1000 : plain_exponent(c, without == PLAIN_C_NORMALISED ? -1000 : rule->least_out);
    if (own > largest && without != PLAIN_C_HAS_NO_EXPONENT)
        largest = own;
    double sum = -0.0;
    for (int t = 0; t <= count; t++) {
        const double units = ldexp(value[t], fraction - largest);
        sum += without == PLAIN_ADDENDS_UNCUT        ? units
               : without == PLAIN_ADDENDS_TO_NEAREST ? nearbyint(units)
                                                     : trunc(units);
    }
    return plain_result(rule, without, ldexp(sum, largest - fraction));
}

/* mma_add() of mma.h. */
static inline float plain_add(const mma_rule *rule, plain_without without, float c, const float *a, const float *b,
                              int count)
{
    int most = rule->products;
    most = without == PLAIN_HALF_STEPS ? most / 2 : without == PLAIN_DOUBLE_STEPS ? most * 2 : most;
    for (int t = 0; t < count; t += most)
        c = plain_step(rule, without, c, a + t, b + t, count - t < most ? count - t : most);
    return c;
}

#endif

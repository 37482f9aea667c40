/* functions.h - the scalar functions that fast kernels make for themselves, measured on every float of their domain.
 *
 * The truth. Floats go in blocks of 2^12 that share sign and exponent.  MPFR gives f at a block's first float, to 53
 * bits; the others follow by a Taylor polynomial in double, whose error, and that of its evaluation, is below 2^-48 of
 * the value: reported errors are raised by it.  The worst argument is asked of MPFR itself.
 */
#ifndef ATTEST_CERTIFY_FUNCTIONS_H
#define ATTEST_CERTIFY_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

enum { CERTIFY_BLOCK = 1 << 12 };

/* One function as one instruction set computes it. */
typedef struct certify_function {
    const char *name, *isa;                               /* isa: as FAST_CPU says it (kernels/fast/isa.h) */
    double declared;                                      /* what kernels declare of it */
    void (*many)(float *y, const float *x, size_t count); /* count: a multiple of CERTIFY_BLOCK */
} certify_function;

typedef struct certify_errors {
    double relative;   /* largest error over the value, where the value is a normal number; raised as above */
    uint32_t at;       /* bits of the worst argument */
    double subnormal;  /* largest error of the others, in units of the least subnormal */
    uint32_t below_at; /* bits of the worst argument of those */
    long count, wrong; /* floats seen; results that are no numbers, or not 0 where the value is below a quarter of it */
} certify_errors;

/* Those that this CPU runs, NULL behind the last. */
const certify_function *certify_function_number(size_t n);

/* e^x over all floats whose bits are in [first, last], whole blocks of non-positive numbers from -0 on, finite or -inf.
 * Threads of its own where built with OpenMP. */
void certify_function_errors(certify_errors *out, const certify_function *f, uint32_t first, uint32_t last);

/* The relative error at one argument, by MPFR alone. */
double certify_function_error_at(const certify_function *f, uint32_t bits);

#endif

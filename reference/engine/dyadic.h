/* dyadic.h - stored numbers as integers over a power of two.
 *
 * Inputs are dyadic rationals.  A span is the common grid of many of them, found by looking at exponents only; on that
 * grid they are integers, and so is every sum of products (R-EXACT).  A dyadic is an integer with an exponent of its
 * own.  Nothing is rounded; infinities and NaNs only turn `finite` off. */
#ifndef ATTEST_DYADIC_H
#define ATTEST_DYADIC_H

#include <stdint.h>

#include "reference/engine/flint_headers.h"

/* ---- spans and integers ------------------------------------------------------------------------------------ */
/* The seen values are integers times 2^low, and smaller than 2^top in size; low = top = 0 where all are 0. */
typedef struct exact_span {
    long low, top;
    int finite;   /* no infinity, no NaN */
    int negative; /* some value < 0 */
    int any;      /* some value != 0 */
} exact_span;

void exact_span_start(exact_span *s);
void exact_span_see(exact_span *s, double x);

/* out = x * 2^-low, for x on the grid. */
void exact_integer(mpz_t out, double x, long low);
/* The same as a word, where it is below 2^62 in size. */
int64_t exact_word(double x, long low);
/* out = numerator * 2^exponent / denominator, in lowest terms. */
void exact_ratio(mpq_t out, const mpz_t numerator, long exponent, const mpz_t denominator);
/* Smallest r with x <= 2^r; x >= 1. */
long exact_log2_up(int64_t x);

/* `count` integers, all 0; NULL if memory is short.  Back through exact_integers_free(). */
mpz_t *exact_integers_new(int64_t count);
void exact_integers_free(mpz_t *a, int64_t count);
mpq_t *exact_rationals_new(int64_t count);
void exact_rationals_free(mpq_t *a, int64_t count);

/* ---- dyadics ----------------------------------------------------------------------------------------------------- */
/* m * 2^e: an integer with an exponent of its own, for recurrences, whose grid grows with every token.  Nothing is
 * rounded; an output may be one of the arguments. */
typedef struct exact_dyadic {
    mpz_t m;
    long e;
} exact_dyadic;

exact_dyadic *exact_dyadics_new(int64_t count); /* all 0; NULL if memory is short */
void exact_dyadics_free(exact_dyadic *a, int64_t count);
void exact_dyadic_init(exact_dyadic *x);
void exact_dyadic_clear(exact_dyadic *x);
void exact_dyadic_set(exact_dyadic *out, const exact_dyadic *x);
void exact_dyadic_set_d(exact_dyadic *out, double x); /* finite */
void exact_dyadic_add(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b);
void exact_dyadic_sub(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b);
void exact_dyadic_mul(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b);
void exact_dyadic_addmul(exact_dyadic *sum, const exact_dyadic *a, const exact_dyadic *b);
void exact_dyadic_ratio(mpq_t out, const exact_dyadic *x);

#endif

/* dyadic.c - stored numbers as integers over a power of two (R-EXACT).
 *
 * Nothing here is rounded.  Exponents are found first, by integer operations on the stored bits, so that
 * every integer is made once, at its final place. */
#include "reference/engine/dyadic.h"
#include "reference/engine/scope.h"

#include <stdlib.h>

#include "kernels/attest_float.h"

/* x = +-mantissa * 2^exponent; 0 if x is not finite. */
static int dyadic(uint64_t *mantissa, long *exponent, double x)
{
    const uint64_t bits = attest_f64_bits(x);
    const long field = (long)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & 0xfffffffffffffull;
    *mantissa = field ? fraction | 1ull << 52 : fraction;
    *exponent = (field ? field : 1) - 1075;
    return field != 0x7ff;
}

void exact_span_start(exact_span *s) { *s = (exact_span){ .low = 0, .top = 0, .finite = 1, .negative = 0, .any = 0 }; }

void exact_span_see(exact_span *s, double x)
{
    uint64_t mantissa;
    long exponent;
    if (!dyadic(&mantissa, &exponent, x)) {
        s->finite = 0;
        return;
    }
    if (mantissa == 0)
        return;
    const long low = exponent + __builtin_ctzll(mantissa);
    const long top = exponent + 64 - __builtin_clzll(mantissa);
    s->low = s->any && s->low < low ? s->low : low;
    s->top = s->any && s->top > top ? s->top : top;
    s->negative |= x < 0;
    s->any = 1;
}

void exact_integer(mpz_t out, double x, long low)
{
    uint64_t mantissa;
    long exponent;
    dyadic(&mantissa, &exponent, x);
    mpz_set_ui(out, mantissa);
    if (exponent >= low)
        mpz_mul_2exp(out, out, (mp_bitcnt_t)(exponent - low));
    else
        mpz_tdiv_q_2exp(out, out, (mp_bitcnt_t)(low - exponent)); /* exact: x is on the grid */
    if (x < 0)
        mpz_neg(out, out);
}

int64_t exact_word(double x, long low)
{
    uint64_t mantissa;
    long exponent;
    dyadic(&mantissa, &exponent, x);
    if (mantissa == 0)
        exponent = low;
    const uint64_t size = exponent >= low ? mantissa << (exponent - low) : mantissa >> (low - exponent);
    return x < 0 ? -(int64_t)size : (int64_t)size;
}

void exact_ratio(mpq_t out, const mpz_t numerator, long exponent, const mpz_t denominator)
{
    mpq_set_num(out, numerator);
    mpq_set_den(out, denominator);
    mpq_canonicalize(out);
    if (exponent >= 0)
        mpq_mul_2exp(out, out, (mp_bitcnt_t)exponent);
    else
        mpq_div_2exp(out, out, (mp_bitcnt_t)-exponent);
}

long exact_log2_up(int64_t x) { return x <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)x - 1); }

mpz_t *exact_integers_new(int64_t count)
{
    mpz_t *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    for (int64_t k = 0; a && k < count; k++)
        mpz_init(a[k]);
    return a;
}

void exact_integers_free(mpz_t *a, int64_t count)
{
    for (int64_t k = 0; a && k < count; k++)
        mpz_clear(a[k]);
    free(a);
}

mpq_t *exact_rationals_new(int64_t count)
{
    mpq_t *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    for (int64_t k = 0; a && k < count; k++)
        mpq_init(a[k]);
    return a;
}

void exact_rationals_free(mpq_t *a, int64_t count)
{
    for (int64_t k = 0; a && k < count; k++)
        mpq_clear(a[k]);
    free(a);
}

/* ---- integers with an exponent of their own ---------------------------------------------------------------------- */

void exact_dyadic_init(exact_dyadic *x)
{
    mpz_init(x->m);
    x->e = 0;
}

void exact_dyadic_clear(exact_dyadic *x) { mpz_clear(x->m); }

exact_dyadic *exact_dyadics_new(int64_t count)
{
    exact_dyadic *a = malloc((size_t)(count > 0 ? count : 1) * sizeof *a);
    for (int64_t k = 0; a && k < count; k++)
        exact_dyadic_init(&a[k]);
    return a;
}

void exact_dyadics_free(exact_dyadic *a, int64_t count)
{
    for (int64_t k = 0; a && k < count; k++)
        exact_dyadic_clear(&a[k]);
    free(a);
}

void exact_dyadic_set(exact_dyadic *out, const exact_dyadic *x)
{
    mpz_set(out->m, x->m);
    out->e = x->e;
}

void exact_dyadic_set_d(exact_dyadic *out, double x)
{
    exact_span span;
    exact_span_start(&span);
    exact_span_see(&span, x);
    exact_integer(out->m, x, span.low); /* an odd number, or 0 */
    out->e = span.low;
}

/* a's mantissa over 2^e, e <= a->e: in `shifted` only where it has to move. */
static mpz_srcptr align(mpz_t shifted, const exact_dyadic *a, long e)
{
    if (a->e == e)
        return a->m;
    mpz_mul_2exp(shifted, a->m, (mp_bitcnt_t)(a->e - e));
    return shifted;
}

static void combine(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b,
                    void (*operation)(mpz_ptr, mpz_srcptr, mpz_srcptr))
{
    const int a_zero = mpz_sgn(a->m) == 0, b_zero = mpz_sgn(b->m) == 0;
    const long e = a_zero ? b->e : b_zero || a->e < b->e ? a->e : b->e;
    AUTO_MPZ(x, y);
    operation(out->m, a_zero ? x : align(x, a, e), b_zero ? y : align(y, b, e));
    out->e = e;
}

void exact_dyadic_add(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b) { combine(out, a, b, mpz_add); }

void exact_dyadic_sub(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b) { combine(out, a, b, mpz_sub); }

void exact_dyadic_mul(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b)
{
    mpz_mul(out->m, a->m, b->m);
    out->e = a->e + b->e;
}

void exact_dyadic_addmul(exact_dyadic *sum, const exact_dyadic *a, const exact_dyadic *b)
{
    const long e = a->e + b->e;
    exact_dyadic product;
    if (mpz_sgn(sum->m) == 0)
        sum->e = e;
    if (sum->e >= e) { /* no number is made but the sum */
        mpz_mul_2exp(sum->m, sum->m, (mp_bitcnt_t)(sum->e - e));
        sum->e = e;
        mpz_addmul(sum->m, a->m, b->m);
        return;
    }
    exact_dyadic_init(&product);
    exact_dyadic_mul(&product, a, b);
    exact_dyadic_add(sum, sum, &product);
    exact_dyadic_clear(&product);
}

void exact_dyadic_ratio(mpq_t out, const exact_dyadic *x)
{
    mpq_set_z(out, x->m);
    if (x->e >= 0)
        mpq_mul_2exp(out, out, (mp_bitcnt_t)x->e);
    else
        mpq_div_2exp(out, out, (mp_bitcnt_t)-x->e);
}

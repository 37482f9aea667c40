/* exact_dyadic.c - integers with an exponent of their own: exact arithmetic for recurrences (R-EXACT). */
#include "reference/exact/exact.h"

#include <stdlib.h>

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

void exact_feature_dyadic(exact_dyadic *out, double x, const exact_keys *r, long low)
{
    exact_feature_integer(out->m, x, r->feature, low);
    out->e = low;
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
    mpz_t x, y;
    mpz_init(x);
    mpz_init(y);
    operation(out->m, a_zero ? x : align(x, a, e), b_zero ? y : align(y, b, e));
    out->e = e;
    mpz_clear(y);
    mpz_clear(x);
}

void exact_dyadic_add(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b)
{
    combine(out, a, b, mpz_add);
}

void exact_dyadic_sub(exact_dyadic *out, const exact_dyadic *a, const exact_dyadic *b)
{
    combine(out, a, b, mpz_sub);
}

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

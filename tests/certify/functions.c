/* functions.c - see functions.h. */
#include "tests/certify/functions.h"

#include "fast/exp.h"
#include "fast/isa.h"
#include "reference/engine/flint_headers.h"

#include <math.h>
#include <string.h>

#define SLACK 0x1p-48 /* of the truth, relative */

void certify_exp_portable(float *y, const float *x, size_t count);
void certify_exp_avx2(float *y, const float *x, size_t count);
void certify_exp_avx512(float *y, const float *x, size_t count);

const certify_function *certify_function_number(size_t n)
{
    static const certify_function all[] = {
        { "exp", "portable", FAST_EXP_ERROR, certify_exp_portable },
#if defined(__x86_64__)
        { "exp", "avx2", FAST_EXP_ERROR, certify_exp_avx2 },
        { "exp", "avx512", FAST_EXP_ERROR, certify_exp_avx512 },
#endif
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        if (strcmp(fast_isa_name(fast_isa_at_most(all[k].isa)), all[k].isa) == 0 && n-- == 0)
            return &all[k];
    return NULL;
}

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* e^x to 53 bits. */
static double exp_of(float x)
{
    mpfr_t y;
    mpfr_init2(y, 53);
    mpfr_set_flt(y, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    const double value = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return value;
}

static void see(certify_errors *e, float x, float y, double want)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const double error = fabs((double)y - want);
    e->count++;
    e->wrong += !(error <= 1) || (want < 0x1p-151 && y != 0);
    if (want >= 0x1p-126 && error > e->relative * want) {
        e->relative = error / want;
        e->at = bits;
    } else if (want < 0x1p-126 && error > e->subnormal * 0x1p-149) {
        e->subnormal = error * 0x1p149;
        e->below_at = bits;
    }
}

/* Of the block that starts at `bits`; |h| < 2^-5, so that the terms left out are below h^9/9! < 2^-63. */
static void see_block(certify_errors *e, const certify_function *f, uint32_t bits)
{
    float x[CERTIFY_BLOCK], y[CERTIFY_BLOCK];
    const float start = of_bits(bits);
    const double base = exp_of(start);
    for (uint32_t n = 0; n < CERTIFY_BLOCK; n++)
        x[n] = of_bits(bits + n);
    f->many(y, x, CERTIFY_BLOCK);
    for (uint32_t n = 0; n < CERTIFY_BLOCK; n++) {
        const double h = (double)x[n] - (double)start;
        double series = 1;
        for (int k = 8; k > 0; k--)
            series = 1 + h / k * series;
        if (isnan(x[n]))
            e->wrong += !isnan(y[n]);
        else
            see(e, x[n], y[n], start < -128 ? 0 : base * series);
    }
}

static void merge(certify_errors *all, const certify_errors *e)
{
    if (e->relative > all->relative) {
        all->relative = e->relative;
        all->at = e->at;
    }
    if (e->subnormal > all->subnormal) {
        all->subnormal = e->subnormal;
        all->below_at = e->below_at;
    }
    all->count += e->count;
    all->wrong += e->wrong;
}

void certify_function_errors(certify_errors *out, const certify_function *f, uint32_t first, uint32_t last)
{
    memset(out, 0, sizeof *out);
#ifdef _OPENMP
#pragma omp parallel
#endif
    {
        certify_errors mine = { .count = 0 };
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (uint32_t block = first / CERTIFY_BLOCK; block <= last / CERTIFY_BLOCK; block++)
            see_block(&mine, f, block * CERTIFY_BLOCK);
#ifdef _OPENMP
#pragma omp critical
#endif
        merge(out, &mine);
    }
    out->relative = out->relative * (1 + SLACK) + SLACK;
}

double certify_function_error_at(const certify_function *f, uint32_t bits)
{
    float x[CERTIFY_BLOCK], y[CERTIFY_BLOCK];
    mpfr_t want, got;
    for (size_t n = 0; n < CERTIFY_BLOCK; n++)
        x[n] = of_bits(bits);
    f->many(y, x, CERTIFY_BLOCK);
    mpfr_inits2(200, want, got, (mpfr_ptr)0);
    mpfr_set_flt(want, x[0], MPFR_RNDN);
    mpfr_exp(want, want, MPFR_RNDN);
    mpfr_set_flt(got, y[0], MPFR_RNDN);
    mpfr_sub(got, got, want, MPFR_RNDN);
    mpfr_div(got, got, want, MPFR_RNDN);
    const double error = fabs(mpfr_get_d(got, MPFR_RNDA));
    mpfr_clears(want, got, (mpfr_ptr)0);
    return error;
}

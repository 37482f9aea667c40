/* dd_paths.h - for the suites of the dd engine's loops: the paths that this machine runs, random numbers, MPFR. */
#ifndef TESTS_DD_PATHS_H
#define TESTS_DD_PATHS_H

#include <check.h>
#include <mpfr.h>
#include <stdlib.h>

#include "reference/dd/dd_driver.h"
#include "reference/dd/dd_table.h"
#include "tests/kernels/base_random.h"

enum { DD_BITS = 300, DD_MOST_PATHS = 3 };

/* The paths that run here; *count of them. */
static inline const dd_path *const *dd_paths_here(int *count)
{
    static const dd_path *here[DD_MOST_PATHS];
    static const dd_path *const all[] = {
#if defined(__x86_64__)
        &dd_path_avx512,
        &dd_path_avx2,
#endif
        &dd_path_portable
    };
    *count = 0;
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        if (all[n]->runs())
            here[(*count)++] = all[n];
    return here;
}

/* in [-1,1), 53 bits */
static inline double dd_uniform(uint64_t *state) { return (double)(int64_t)(random_word(state) & ~0x7ffull) * 0x1p-63; }

/* A float's value, exponent from `low` to `high`. */
static inline double dd_float(uint64_t *state, int low, int high)
{
    const double size = (double)(float)(1 + (double)random_below(state, 1u << 23) * 0x1p-23);
    const int exponent = low + (int)random_below(state, (uint32_t)(high - low + 1));
    return (random_word(state) & 1 ? size : -size) * dd_power_of_two(exponent);
}

/* |hi + lo - x| / |unit| as a double, rounded away from 0. */
static inline double dd_distance(double hi, double lo, const mpfr_t x, const mpfr_t unit)
{
    mpfr_t d;
    mpfr_init2(d, 2000);
    mpfr_set_d(d, hi, MPFR_RNDN);
    mpfr_add_d(d, d, lo, MPFR_RNDN);
    mpfr_sub(d, d, x, MPFR_RNDN);
    mpfr_div(d, d, unit, MPFR_RNDA);
    mpfr_abs(d, d, MPFR_RNDN);
    const double result = mpfr_get_d(d, MPFR_RNDA);
    mpfr_clear(d);
    return result;
}

static inline double dd_log2_of(double x)
{
    mpfr_t y;
    mpfr_init2(y, 60);
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_log2(y, y, MPFR_RNDN);
    const double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_clear(y);
    return result;
}

/* Points of a search: `count`, times the environment's ATTEST_CERTIFY (then results are printed as well). */
static inline long dd_points(long count)
{
    const char *times = getenv("ATTEST_CERTIFY");
    return times && atol(times) > 0 ? count * atol(times) : count;
}

#endif

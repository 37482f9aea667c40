/* enclose_round.c - is there one nearest value of a format for everything an enclosure holds?  (R-DD-ROUND) */
#include "kernels/attest_float.h"
#include "reference/dd/dd_driver.h"

/* s + *e = a + b */
static double two_sum(double a, double b, double *e)
{
    const double s = a + b, t = s - a;
    *e = (a - (s - t)) + (b - t);
    return s;
}

/* A double at most (direction = -1) or at least (1) hi + lo + direction bound. */
static double beyond(double hi, double lo, double bound, int direction)
{
    const double x = hi + (lo + direction * bound);
    return x + direction * (__builtin_fabs(x) * 0x1p-51 + __builtin_fabs(lo) * 0x1p-51 + bound * 0x1p-51 + 0x1p-1070);
}

/* The value of stored bits; an infinity counts as the power of two behind the largest finite value. */
static double as_number(uint32_t dtype, uint64_t bits)
{
    const double x = attest_to_f64(dtype, bits);
    if (__builtin_fabs(x) < __builtin_inf())
        return x;
    const double end = dd_power_of_two(attest_format_of(dtype).emax + 1);
    return x > 0 ? end : -end;
}

/* Doubles: hi is the nearest one of hi + lo; a boundary is half an ulp away, a quarter below a power of two. */
static int round_double(uint64_t *bits, double hi, double lo, double bound)
{
    const double quarter = __builtin_fabs(hi) * 0x1p-54 * (1 - 0x1p-40);
    *bits = attest_f64_bits(hi);
    return bound + __builtin_fabs(lo) < quarter && __builtin_fabs(hi) >= 0x1p-1000 && __builtin_fabs(hi) <= 0x1p1000;
}

int attest_enclosure_round(uint64_t *bits, const attest_enclosures *e, int64_t n, uint32_t dtype)
{
    const double hi = e->hi[n], lo = e->lo[n], bound = e->bound[n];
    if (!(bound < __builtin_inf()))
        return 0;
    if (bound == 0 && lo == 0) {
        *bits = attest_from_f64(dtype, hi + 0.0); /* 0 has no sign */
        return 1;
    }
    if (dtype == ATTEST_F64)
        return round_double(bits, hi, lo, bound);
    const uint64_t below = attest_from_f64(dtype, beyond(hi, lo, bound, -1));
    const uint64_t above = attest_from_f64(dtype, beyond(hi, lo, bound, 1));
    *bits = below;
    if (below == above)
        return 1;
    /* The boundary between two neighbours has one bit more than they: a double.  (Others: it is no boundary, and then
     * the enclosure is wider than a value and holds the middle.) */
    double rest;
    const double middle = as_number(dtype, below) / 2 + as_number(dtype, above) / 2;
    const double distance = two_sum(hi, -middle, &rest);
    const double signed_distance = distance + (rest + lo);
    *bits = signed_distance > 0 ? above : below;
    return __builtin_fabs(signed_distance) * (1 - 0x1p-50) - __builtin_fabs(lo) * 0x1p-50 > bound;
}

/* dd_log.c - the dd engine's logarithm, for lse: a table step and a series (R-DD-LOG). */
#include <string.h>

#include "reference/dd/dd_driver.h"
#include "reference/dd/dd_table.h"

typedef struct pair {
    double hi, lo;
} pair;

static pair sum(pair a, pair b)
{
    const double s = a.hi + b.hi, t = s - a.hi, e = (a.hi - (s - t)) + (b.hi - t) + (a.lo + b.lo), hi = s + e;
    return (pair){ hi, e - (hi - s) };
}

/* Dekker's product; sizes here are between 2^-200 and 2^200 */
static pair product(pair a, pair b)
{
    const double split = 0x1p27 + 1, p = a.hi * b.hi, ca = a.hi * split, cb = b.hi * split;
    const double ah = ca - (ca - a.hi), bh = cb - (cb - b.hi), al = a.hi - ah, bl = b.hi - bh;
    const double e = (((ah * bh - p) + ah * bl) + al * bh) + al * bl + (a.hi * b.lo + a.lo * b.hi), hi = p + e;
    return (pair){ hi, e - (hi - p) };
}

/* (a - b)/b, a near b */
static pair excess(pair a, pair b)
{
    const pair d = sum(a, (pair){ -b.hi, -b.lo });
    const double q = d.hi / b.hi;
    const pair back = product((pair){ q, 0 }, b), rest = sum(d, (pair){ -back.hi, -back.lo });
    const double r = (rest.hi + rest.lo) / b.hi, hi = q + r;
    return (pair){ hi, r - (hi - q) };
}

double dd_log(double *lo, double zh, double zl, int64_t exponent)
{
    uint64_t bits;
    memcpy(&bits, &zh, sizeof bits);
    const int64_t e = (int64_t)(bits >> 52) - 1023;
    const double unit = dd_power_of_two(-e);
    const pair f = { zh * unit, zl * unit }; /* in [1,2], but for zl */
    int64_t low = 0, high = 1024;            /* 2^(low/1024) <= f.hi */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        *(dd_power[middle][0] <= f.hi ? &low : &high) = middle;
    }
    const pair x = excess(f, (pair){ dd_power[low][0], dd_power[low][1] }); /* 0 <= x < 2^-10.5 */
    double tail = 0; /* x - x^2/2 + x^3/3 - (the rest in plain double, below 2^-40) */
    for (int n = 10; n >= 4; n--)
        tail = (n % 2 ? 1 : -1) / (double)n + x.hi * tail;
    const pair x2 = product(x, x), x3 = product(x2, x);
    const pair third = { 0x1.5555555555555p-2, 0x1.5555555555555p-56 };
    pair y = sum(x, (pair){ -x2.hi / 2, -x2.lo / 2 });
    y = sum(y, product(x3, third));
    y = sum(y, (pair){ x2.hi * x2.hi * tail, 0 });
    const pair steps = { (double)((e + exponent) * 1024 + low) / 1024, 0 }; /* exact: below 2^53 */
    y = sum(product(steps, (pair){ dd_ln2[0][0], dd_ln2[0][1] }), y);
    *lo = y.lo;
    return y.hi;
}

/* dd_weights.h - inside reference/: from scores to weights, row by row, for the three paths.  Contracts: dd.h. */
#ifndef ATTEST_DD_WEIGHTS_H
#define ATTEST_DD_WEIGHTS_H

#include "reference/dd/dd_real.h"
#include "reference/dd/dd_table.h"

typedef struct scan_state {
    vec squares, top, least;
} scan_state;

static inline void scan_step(scan_state *s, vec x)
{
    const vec size = v_abs(x), zero = v_all(0);
    s->squares = multiply_add(size, size, s->squares);
    s->top = v_max(size, s->top); /* a NaN on the left is passed over: the sum of squares keeps it */
    s->least = v_min(s->least, v_add(size, v_where_ge(zero, size, v_all(__builtin_inf()))));
}

static int scan(double *squares, double *largest, double *smallest, const double *x, int64_t count)
{
    scan_state s = { v_all(0), v_all(*largest), v_all(*smallest) };
    double part[3][LANES], last[LANES] = { 0 }, sum = 0, top = *largest, least = *smallest;
    const int64_t whole = count / LANES * LANES;
    for (int64_t c = 0; c < whole; c += LANES)
        scan_step(&s, v_load(x + c));
    memcpy(last, x + whole, (size_t)(count - whole) * sizeof *x);
    scan_step(&s, v_load(last));
    v_store(part[0], s.squares);
    v_store(part[1], s.top);
    v_store(part[2], s.least);
    for (int n = 0; n < LANES; n++) {
        sum += part[0][n];
        top = part[1][n] > top ? part[1][n] : top;
        least = part[2][n] < least ? part[2][n] : least;
    }
    if (!(sum < __builtin_inf())) /* squares of floats do not overflow */
        return 0;
    *squares += sum;
    *largest = top;
    *smallest = least;
    return 1;
}

static int survey(double *squares, double *largest, double *smallest, const double *x, int64_t count)
{
    vec least = v_all(*smallest);
    double part[LANES];
    int finite = 1;
    for (int v = 0; v < DD_PANEL; v += LANES) {
        scan_state s = { v_all(0), v_load(largest + v), least };
        for (int64_t n = 0; n < count; n++)
            scan_step(&s, v_load(x + n * DD_PANEL + v));
        v_store(squares + v, s.squares);
        v_store(largest + v, s.top);
        least = s.least;
    }
    v_store(part, least);
    for (int n = 0; n < LANES; n++)
        *smallest = part[n] < *smallest ? part[n] : *smallest;
    for (int n = 0; n < DD_PANEL; n++)
        finite &= squares[n] < __builtin_inf();
    return finite;
}

/* 1.5 2^k: what is added to it and taken away again is rounded to a multiple of 2^(k-52). */
static inline vec to_grid(vec x, vec big) { return v_sub(v_add(x, big), big); }

static void slice(double *first, double *second, const double *x, int64_t count, const double *big)
{
    for (int64_t n = 0; n < count * DD_PANEL; n += LANES) {
        const vec all = v_load(x + n), part = to_grid(all, v_load(big + n % DD_PANEL));
        v_store(first + n, part);
        v_store(second + n, v_sub(all, part));
    }
}

static void range(double *lowest, double *highest, const double *high, int64_t first, int64_t last)
{
    const int64_t whole = first + (last - first) / LANES * LANES;
    double part[LANES], most = high[first], least = high[first];
    vec top = v_all(high[first]), bottom = top;
    for (int64_t j = first; j < whole; j += LANES) {
        top = v_max(top, v_load(high + j));
        bottom = v_min(bottom, v_load(high + j));
    }
    for (int64_t j = whole; j < last; j++) {
        most = high[j] > most ? high[j] : most;
        least = high[j] < least ? high[j] : least;
    }
    v_store(part, top);
    for (int n = 0; n < LANES; n++)
        most = part[n] > most ? part[n] : most;
    v_store(part, bottom);
    for (int n = 0; n < LANES; n++)
        least = part[n] < least ? part[n] : least;
    *lowest = least;
    *highest = most;
}

/* x - shift, after min(x, clamp); both parts, |*low| <= ulp(x)/2. */
static inline vec shifted(vec *low, vec x, const dd_row_plan *plan)
{
    if (plan->clamp < __builtin_inf()) {
        const vec top = v_all(plan->clamp), below = v_where_gt(top, x, *low);
        *low = v_add(below, v_where_ge(v_all(0), *low, v_sub(v_where_ge(top, x, *low), below)));
        x = v_min(x, top);
    }
    if (plan->shift[0] != 0 || plan->shift[1] != 0) {
        vec e;
        x = two_sum(x, v_all(-plan->shift[0]), &e);
        *low = v_add(e, v_sub(*low, v_all(plan->shift[1])));
        x = two_sum(x, *low, low); /* it was an ulp of the score, which may be more than what is left */
    }
    return x;
}

/* e^(x + *low) 2^-exponent, by 2^(k/1024), k = rint(1024 x / ln 2), and a series for what remains (R-DD-EXP). */
static inline vec exponential_of(vec *low, vec x, ivec bias)
{
    const vec magic = v_all(0x1.8p52), grid = v_all(0x1.8p15);
    const vec m = multiply_add(x, v_all(dd_steps_per_unit), magic), k = v_sub(m, magic);
    const vec a = multiply_subtract_from(k, v_all(dd_step[0]), x), b = v_mul(k, v_all(dd_step[1])); /* both exact */
    const vec r1 = to_grid(v_sub(a, b), grid); /* a multiple of 2^-37 */
    const vec r2 = v_add(v_sub(v_sub(a, r1), b), multiply_subtract_from(k, v_all(dd_step[2]), *low));
    const vec half = v_all(0.5), r = v_add(r1, r2), square = v_mul(v_mul(r1, half), r1); /* square: exact */
    vec p = multiply_add(r, v_all(dd_inverse_factorial[6][0]), v_all(dd_inverse_factorial[5][0]));
    p = multiply_add(r, p, v_all(dd_inverse_factorial[4][0]));
    p = multiply_add(r, p, v_all(dd_inverse_factorial[3][0]));
    vec rest = multiply_add(r2, multiply_add(r2, half, r1), r2);
    rest = multiply_add(v_mul(v_mul(r, r), r), p, rest);
    vec e1, e2, e3;
    vec f = fast_two_sum(v_add(v_all(1), r1), square, &e1); /* 1 + r1 is exact */
    f = fast_two_sum(f, rest, &e2);
    const vec g = v_add(e1, e2); /* e^r = f + g */
    const ivec bits = v_bits(m), at = i_left(i_and(bits, i_all(1023)), 1);
    const vec th = v_gather(dd_power[0], at), tl = v_gather(dd_power[0] + 1, at);
    const vec two = v_double(i_left(i_add(i_right(bits, 10), bias), 52));
    const vec h = two_product(th, f, &e3);
    *low = v_mul(multiply_add(tl, f, multiply_add(th, g, e3)), two);
    return v_mul(h, two);
}

/* The same to R-DD-EXP-SHORT: the remainder is one double, and its series is a correction of the table's power. */
static inline vec exponential_short_of(vec *low, vec x, ivec bias)
{
    const vec magic = v_all(0x1.8p52);
    const vec m = multiply_add(x, v_all(dd_steps_per_unit), magic), k = v_sub(m, magic);
    const vec a = multiply_subtract_from(k, v_all(dd_step[0]), x); /* exact */
    const vec r = v_add(a, multiply_subtract_from(k, v_all(dd_step[1] + dd_step[2]), *low));
    vec p = multiply_add(r, v_all(dd_inverse_factorial[5][0]), v_all(dd_inverse_factorial[4][0]));
    p = multiply_add(r, p, v_all(dd_inverse_factorial[3][0]));
    p = multiply_add(r, p, v_all(0.5));
    p = multiply_add(v_mul(r, r), p, r); /* e^r - 1 */
    const ivec bits = v_bits(m), at = i_left(i_and(bits, i_all(1023)), 1);
    const vec th = v_gather(dd_power[0], at), tl = v_gather(dd_power[0] + 1, at);
    const vec two = v_double(i_left(i_add(i_right(bits, 10), bias), 52));
    const vec h = fast_two_sum(th, multiply_add(th, p, tl), low);
    *low = v_mul(*low, two);
    return v_mul(h, two);
}

/* w where first <= key j + lane < last, else 0 */
static inline vec inside(vec w, int64_t j, const dd_row_plan *plan)
{
    double number[LANES];
    for (int n = 0; n < LANES; n++)
        number[n] = (double)(j + n);
    const vec at = v_load(number);
    return v_where_ge(at, v_all((double)plan->first), v_where_gt(v_all((double)plan->last), at, w));
}

typedef struct running_sum {
    vec acc, low, absolute;
} running_sum;

static inline void store_weight(running_sum *s, double *high, double *low, int64_t j, vec h, vec l,
                                const dd_row_plan *plan, int positive)
{
    if (j < plan->first || j + LANES > plan->last) {
        h = inside(h, j, plan);
        l = inside(l, j, plan);
    }
    v_store(high + j, h);
    v_store(low + j, l);
    const vec t = v_add(s->acc, h);
    s->low = v_add(s->low, v_add(v_sub(h, v_sub(t, s->acc)), l));
    s->acc = t;
    if (!positive)
        s->absolute = v_add(s->absolute, v_abs(h));
}

/* The sum of the lanes and of what was folded; positive: it is the absolute one too. */
static void close_sum(dd_row_sum *sum, const running_sum *s, double big, int positive)
{
    double acc[LANES], low[LANES], absolute[LANES];
    v_store(acc, v_sub(s->acc, v_all(big)));
    v_store(low, s->low);
    v_store(absolute, s->absolute);
    double hi = 0, lo = 0, size = 0;
    for (int n = 0; n < LANES; n++) {
        const double t = hi + acc[n], back = t - hi;
        lo += (hi - (t - back)) + (acc[n] - back) + low[n];
        hi = t;
        size += absolute[n];
    }
    sum->hi = hi + lo;
    const double back = sum->hi - hi;
    sum->lo = (hi - (sum->hi - back)) + (lo - back);
    sum->absolute = (positive ? sum->hi : size) * (1 + 0x1p-20);
}

/* The polynomial by Horner's rule in pairs of doubles (R-DD-SERIES). */
static inline vec series_of(vec *low, vec x, const dd_row_plan *plan)
{
    const double(*a)[2] = plan->coefficient;
    vec h = v_all(plan->lead[0]), l = v_all(plan->lead[1]);
    const vec xl = *low;
    for (int n = plan->order - 1; n >= 0; n--) {
        vec e;
        const vec p = two_product(h, x, &e);
        l = multiply_add(l, x, multiply_add(h, xl, e));
        h = p;
        if (a) {
            h = two_sum(v_all(a[n][0]), p, &e);
            l = v_add(e, v_add(l, v_all(a[n][1])));
        }
    }
    *low = l;
    return h;
}

enum weight_kind { WEIGHT_EXP, WEIGHT_EXP_SHORT, WEIGHT_SERIES };

/* Inlined thrice, `kind` known. */
static inline __attribute__((always_inline)) void weigh(dd_row_sum *sum, double *high, double *low,
                                                        const dd_row_plan *plan, enum weight_kind kind)
{
    const ivec bias = i_all(1023 - plan->exponent);
    const vec cut_off = v_all(plan->cut);
    const int positive = kind != WEIGHT_SERIES;
    running_sum s = { v_all(plan->big), v_all(0), v_all(0) };
    for (int64_t chunk = plan->from; chunk < plan->to; chunk += DD_FOLD) {
        const int64_t end = chunk + DD_FOLD < plan->to ? chunk + DD_FOLD : plan->to;
        for (int64_t j = chunk; j < end; j += LANES) {
            vec l = v_load(low + j);
            const vec x = shifted(&l, v_load(high + j), plan);
            vec h = kind == WEIGHT_EXP         ? exponential_of(&l, x, bias)
                    : kind == WEIGHT_EXP_SHORT ? exponential_short_of(&l, x, bias)
                                               : series_of(&l, x, plan);
            if (positive) {
                h = v_where_ge(x, cut_off, h);
                l = v_where_ge(x, cut_off, l);
            }
            store_weight(&s, high, low, j, h, l, plan, positive);
        }
        fold(&s.acc, &s.low);
    }
    close_sum(sum, &s, plan->big, positive);
}

static void exponential(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan)
{
    weigh(sum, high, low, plan, WEIGHT_EXP);
}

static void exponential_short(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan)
{
    weigh(sum, high, low, plan, WEIGHT_EXP_SHORT);
}

static void series(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan)
{
    weigh(sum, high, low, plan, WEIGHT_SERIES);
}

static void cut(double *kept, double *low, const double *high, int64_t from, int64_t to, double big)
{
    const vec start = v_all(big);
    for (int64_t j = from; j < to; j += LANES) {
        const vec h = v_load(high + j), part = to_grid(h, start);
        v_store(kept + j, part);
        v_store(low + j, v_add(v_sub(h, part), v_load(low + j)));
    }
}

#endif

/* test_dd_exp.c - the dd engine's elementary functions against MPFR at 300 bits on every path: e^x (the machine check
 * of R-DD-EXP), the series, the logarithm, and the tables.
 *
 * ATTEST_CERTIFY=N searches N times as many points and prints the worst error as log2 and as a share of what is proved:
 *     ATTEST_CERTIFY=100 build/t/test_dd_exp
 */
#include <stdio.h>
#include <string.h>

#include "tests/reference/dd/dd_paths.h"

Suite *suite_dd_exp(void);

enum { BATCH = 1024 };

/* What a search found on each path. */
typedef struct found {
    const char *what;
    double worst[DD_MOST_PATHS], bound;
    double at[DD_MOST_PATHS][2];
} found;

static void see(found *f, int path, double error, double x, double low)
{
    if (error > f->worst[path] || error != error) {
        f->worst[path] = error;
        f->at[path][0] = x;
        f->at[path][1] = low;
    }
}

static void judge(const found *f, long points)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    for (int n = 0; n < count; n++) {
        if (getenv("ATTEST_CERTIFY"))
            printf("%-12s %-9s %9ld points: worst 2^%.2f at %a + %a, proved 2^%.2f, share %.3f\n", f->what,
                   path[n]->name, points, dd_log2_of(f->worst[n]), f->at[n][0], f->at[n][1], dd_log2_of(f->bound),
                   f->worst[n] / f->bound);
        must(f->worst[n] <= f->bound, "%s, path %s: 2^%.2f at %a + %a, proved 2^%.2f", f->what, path[n]->name,
             dd_log2_of(f->worst[n]), f->at[n][0], f->at[n][1], dd_log2_of(f->bound));
    }
}

/* ---- e^x --------------------------------------------------------------------------------------------------------- */

/* Next to k ln2/1024, k an integer or a half, for any k that the engine meets. */
static double at_table(uint64_t *s, double part)
{
    mpfr_t x;
    mpfr_init2(x, DD_BITS);
    mpfr_const_log2(x, MPFR_RNDN);
    mpfr_mul_d(x, x, (double)random_below(s, 1900000) - 1030000 + part, MPFR_RNDN);
    mpfr_div_2ui(x, x, 10, MPFR_RNDN);
    const double y = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return y * (1 + (double)(int)(random_below(s, 9) - 4) * 0x1p-52);
}

static double exp_argument(uint64_t *s)
{
    switch (random_below(s, 8)) {
    case 0: return at_table(s, 0.5);
    case 1: return at_table(s, 0);
    case 2: return dd_uniform(s) * dd_power_of_two(-(int)random_below(s, 90));
    case 3: return -699 + 9 * dd_uniform(s);
    case 4: return 600 + 8 * dd_uniform(s);
    case 5: return (double)(int)(random_below(s, 1300) - 700);
    case 6: return dd_float(s, -30, 8);
    default: return 30 * dd_uniform(s);
    }
}

/* Any size up to 2^-41, most often the largest that a score has. */
static double exp_low(uint64_t *s, double x)
{
    switch (random_below(s, 4)) {
    case 0: return 0;
    case 1: return dd_uniform(s) * 0x1p-41;
    case 2: return (random_word(s) & 1 ? 0x1p-41 : -0x1p-41);
    default: return x * 0x1p-53 * dd_uniform(s) * dd_power_of_two(-(int)random_below(s, 60));
    }
}

/* Two algorithms: the relative error proved, and the second part in units of u 2^e, weights in [2^e,2^(e+1)]. */
typedef struct exp_kind {
    const char *what;
    int is_short;
    double bound, part;
} exp_kind;

static const exp_kind exp_kinds[] = {
    { "exp", 0, DD_EXP_ERROR, 16 },
    { "exp short", 1, DD_EXP_SHORT_ERROR, 1 },
};

static void exp_batch(found *f, const exp_kind *kind, const double *x, const double *low, int64_t exponent)
{
    static mpfr_t truth[BATCH];
    static int made;
    double high[BATCH], rest[BATCH];
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    dd_row_plan plan = { .to = BATCH, .last = BATCH, .clamp = __builtin_inf(), .big = 0x1.8p1000, .cut = -750 };
    dd_row_sum sum;
    plan.exponent = exponent;
    for (int j = 0; j < BATCH; j++) {
        if (!made)
            mpfr_init2(truth[j], DD_BITS);
        mpfr_set_d(truth[j], x[j], MPFR_RNDN);
        mpfr_add_d(truth[j], truth[j], low[j], MPFR_RNDN);
        mpfr_exp(truth[j], truth[j], MPFR_RNDN);
        mpfr_mul_2si(truth[j], truth[j], (long)-exponent, MPFR_RNDN);
    }
    made = 1;
    for (int n = 0; n < count; n++) {
        memcpy(high, x, sizeof high);
        memcpy(rest, low, sizeof rest);
        (kind->is_short ? path[n]->exponential_short : path[n]->exponential)(&sum, high, rest, &plan);
        for (int j = 0; j < BATCH; j++) {
            see(f, n, dd_distance(high[j], rest[j], truth[j], truth[j]), x[j], low[j]);
            must(__builtin_fabs(rest[j]) <= kind->part * 0x1p-53 * dd_power_of_two(dd_exponent(high[j])),
                 "path %s: the second part of e^%a (%s) is %a", path[n]->name, x[j], kind->what, rest[j]);
        }
    }
}

START_TEST(exponential)
{
    const exp_kind *kind = &exp_kinds[_i];
    found f = { .what = kind->what, .bound = kind->bound };
    uint64_t s = 40;
    double x[BATCH], low[BATCH];
    const long batches = dd_points(100);
    for (long batch = 0; batch < batches; batch++) {
        const int64_t exponent = batch % 4 == 1 ? 300 : batch % 4 == 2 ? -300 : 0;
        for (int j = 0; j < BATCH; j++) {
            do /* what dd_plan_weights keeps: weights from 2^-900 */
                x[j] = exp_argument(&s);
            while (!(x[j] > 0.6931 * (double)(exponent - 900) && x[j] < 0.6931 * (double)(exponent + 900)));
            low[j] = exp_low(&s, x[j]);
        }
        exp_batch(&f, kind, x, low, exponent);
    }
    judge(&f, batches * BATCH);
}
END_TEST

/* Sums of weights, kept and dropped ones, to what dd_weigh_errors says (but for the errors of the weights). */
START_TEST(sums)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 41;
    mpfr_t truth, one;
    mpfr_inits2(2000, truth, one, (mpfr_ptr)0);
    mpfr_set_ui(one, 1, MPFR_RNDN);
    for (int trial = 0; trial < 200; trial++) {
        static double high[4096], low[4096], h[4096], l[4096];
        const int64_t keys = 16 * (1 + random_below(&s, trial % 8 ? 20 : 256));
        for (int64_t j = 0; j < keys; j++) {
            high[j] = (trial % 3 == 0 ? 0.001 : trial % 3 == 1 ? 20 : 400) * dd_uniform(&s);
            low[j] = high[j] * 0x1p-53 * dd_uniform(&s);
        }
        for (int n = 0; n < count; n++) {
            attest_problem p = { .d = 1 };
            dd_job job = { .p = &p, .path = path[n], .f = { .exponential = 1, .clamp = __builtin_inf() } };
            dd_row row = { .known = 1, .largest = 400 };
            row.plan.to = keys;
            row.plan.first = random_below(&s, 16);
            row.plan.last = keys - random_below(&s, 16);
            row.plan.last += row.plan.last <= row.plan.first;
            row.plan.clamp = __builtin_inf();
            double lowest, highest;
            path[n]->range(&lowest, &highest, high, row.plan.first, row.plan.last);
            dd_plan_weights(&row, &job, lowest, highest);
            memcpy(h, high, sizeof h);
            memcpy(l, low, sizeof l);
            path[n]->exponential(&row.sum, h, l, &row.plan);
            dd_weigh_errors(&row, &job);
            mpfr_set_ui(truth, 0, MPFR_RNDN);
            double absolute = 0;
            for (int64_t j = 0; j < keys; j++) {
                mpfr_add_d(truth, truth, h[j], MPFR_RNDN);
                mpfr_add_d(truth, truth, l[j], MPFR_RNDN);
                absolute += h[j];
                must(j >= row.plan.first && j < row.plan.last ? h[j] <= row.top : h[j] == 0 && l[j] == 0,
                     "path %s: weight %d is %a", path[n]->name, (int)j, h[j]);
            }
            must(row.known && dd_distance(row.sum.hi, row.sum.lo, truth, one) <= row.sum_error,
                 "path %s: the sum is off by 2^%.2f, proved 2^%.2f", path[n]->name,
                 dd_log2_of(dd_distance(row.sum.hi, row.sum.lo, truth, one)), dd_log2_of(row.sum_error));
            must(row.sum.absolute >= absolute * (1 - 0x1p-30) && row.sum.absolute <= absolute * (1 + 0x1p-18),
                 "path %s: absolute", path[n]->name);
            must(__builtin_fabs(row.sum.lo) <= 0x1p-53 * row.sum.hi, "path %s: the sum's parts", path[n]->name);
        }
    }
    mpfr_clears(truth, one, (mpfr_ptr)0);
}
END_TEST

/* ---- series ------------------------------------------------------------------------------------------------------ */

/* w = sum a_n x^n for the plan's coefficients (as pairs), and the same of absolute values. */
static void true_series(mpfr_t w, mpfr_t mass, const dd_row_plan *plan, double x, double low)
{
    mpfr_t y, a;
    mpfr_inits2(DD_BITS, y, a, (mpfr_ptr)0);
    mpfr_set_d(y, x, MPFR_RNDN);
    mpfr_add_d(y, y, low, MPFR_RNDN);
    mpfr_set_d(w, plan->lead[0], MPFR_RNDN);
    mpfr_add_d(w, w, plan->lead[1], MPFR_RNDN);
    mpfr_set(mass, w, MPFR_RNDN);
    for (int n = plan->order - 1; n >= 0; n--) {
        mpfr_mul(w, w, y, MPFR_RNDN);
        mpfr_abs(a, y, MPFR_RNDN);
        mpfr_mul(mass, mass, a, MPFR_RNDN);
        if (plan->coefficient) {
            mpfr_fac_ui(a, (unsigned long)n, MPFR_RNDN);
            mpfr_ui_div(a, 1, a, MPFR_RNDN);
            mpfr_add(w, w, a, MPFR_RNDN);
            mpfr_add(mass, mass, a, MPFR_RNDN);
        }
    }
    mpfr_clears(y, a, (mpfr_ptr)0);
}

static double series_argument(uint64_t *s, int order)
{
    switch (random_below(s, 4)) {
    case 0: return dd_uniform(s) * dd_power_of_two(order < 2 ? 100 : 700 / order > 12 ? 12 : 700 / order);
    case 1: return -(1 + order / 3.6) * (1 + 0.1 * dd_uniform(s)); /* near the real root of an odd T_P */
    case 2: return dd_uniform(s) * dd_power_of_two(-(int)random_below(s, order < 2 ? 300 : 60));
    default: return 4 * dd_uniform(s);
    }
}

/* Errors in units of 8 (P+1)^2 2^-106 mass, second parts in units of (3P+4) 2^-53 mass. */
START_TEST(series)
{
    found f = { .what = "series", .bound = 1 }, parts = { .what = "series: lo", .bound = 1 };
    uint64_t s = 42;
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    mpfr_t w, mass, unit;
    mpfr_inits2(DD_BITS, w, mass, unit, (mpfr_ptr)0);
    const long rounds = dd_points(2);
    for (long round = 0; round < rounds; round++)
        for (int k = 0; k < 130; k++) { /* taylor:0..64, term:0..64 */
            const int order = k % 65;
            double x[64], low[64], high[64], rest[64];
            dd_row_plan plan = { .to = 64, .last = 64, .clamp = __builtin_inf(), .big = 0x1.8p1000, .order = order };
            dd_row_sum sum;
            memcpy(plan.lead, dd_inverse_factorial[order], sizeof plan.lead);
            plan.coefficient = k < 65 ? dd_inverse_factorial : NULL;
            for (int j = 0; j < 64; j++) {
                x[j] = series_argument(&s, order);
                low[j] = random_below(&s, 8) ? x[j] * 0x1p-53 * dd_uniform(&s) : 0;
            }
            for (int n = 0; n < count; n++) {
                memcpy(high, x, sizeof high);
                memcpy(rest, low, sizeof rest);
                path[n]->series(&sum, high, rest, &plan);
                for (int j = 0; j < 64; j++) {
                    true_series(w, mass, &plan, x[j], low[j]);
                    if (mpfr_cmp_d(mass, 0x1p-500) < 0)
                        continue; /* covered by the row's largest: R-DD-SERIES */
                    mpfr_mul_d(unit, mass, 8 * 0x1p-106 * (order + 1) * (order + 1), MPFR_RNDD);
                    see(&f, n, dd_distance(high[j], rest[j], w, unit), x[j], low[j]);
                    mpfr_mul_d(unit, mass, (3 * order + 4) * 0x1p-53, MPFR_RNDD);
                    see(&parts, n, __builtin_fabs(rest[j]) / mpfr_get_d(unit, MPFR_RNDD), x[j], low[j]);
                }
            }
        }
    judge(&f, rounds * 130 * 64);
    judge(&parts, rounds * 130 * 64);
    mpfr_clears(w, mass, unit, (mpfr_ptr)0);
}
END_TEST

/* ---- logarithm, tables ------------------------------------------------------------------------------------------- */
START_TEST(logarithm)
{
    uint64_t s = 43;
    mpfr_t x, y, unit;
    mpfr_inits2(DD_BITS, x, y, unit, (mpfr_ptr)0);
    double worst = 0;
    const long points = dd_points(60000);
    for (long n = 0; n < points; n++) {
        const int64_t exponent = random_below(&s, 2) ? 0 : (int64_t)random_below(&s, 1300) - 433;
        double zh = dd_power_of_two((int)random_below(&s, random_below(&s, 2) ? 4 : 1400) - (int)random_below(&s, 2)) *
                    (1 + 0x1p-53 * (double)(random_word(&s) >> 11));
        if (n % 5 == 0) /* next to a step of the table, on both sides */
            zh = dd_power[random_below(&s, 1024)][0] * (1 + (double)(int)(random_below(&s, 5) - 2) * 0x1p-52);
        if (!(zh < 0x1p1000))
            zh = 1.5;
        const double zl = n % 3 ? zh * 0x1p-53 * dd_uniform(&s) : 0;
        double lo;
        const double hi = dd_log(&lo, zh, zl, exponent);
        mpfr_set_d(x, zh, MPFR_RNDN);
        mpfr_add_d(x, x, zl, MPFR_RNDN);
        mpfr_log(x, x, MPFR_RNDN);
        mpfr_const_log2(y, MPFR_RNDN);
        mpfr_mul_si(y, y, (long)exponent, MPFR_RNDN);
        mpfr_add(x, x, y, MPFR_RNDN);
        mpfr_set_d(unit, 0x1p-94 + 0x1p-101 * __builtin_fabs(hi), MPFR_RNDD);
        const double share = dd_distance(hi, lo, x, unit);
        worst = share > worst ? share : worst;
        must(share <= 1, "ln(%a + %a) + %d ln 2: %.3f of the bound", zh, zl, (int)exponent, share);
    }
    if (getenv("ATTEST_CERTIFY"))
        printf("%-12s %9ld points: share %.3f\n", "log", points, worst);
    mpfr_clears(x, y, unit, (mpfr_ptr)0);
}
END_TEST

/* hi is the nearest double, lo the nearest one of the rest. */
static void check_pair(const char *what, int n, const double got[2], const mpfr_t x)
{
    mpfr_t rest;
    mpfr_init2(rest, DD_BITS);
    mpfr_sub_d(rest, x, mpfr_get_d(x, MPFR_RNDN), MPFR_RNDN);
    must(got[0] == mpfr_get_d(x, MPFR_RNDN) && got[1] == mpfr_get_d(rest, MPFR_RNDN), "%s %d: %a + %a", what, n, got[0],
         got[1]);
    mpfr_clear(rest);
}

START_TEST(tables)
{
    mpfr_t x;
    mpfr_init2(x, DD_BITS);
    for (int n = 0; n < 1024; n++) {
        mpfr_set_si(x, n, MPFR_RNDN);
        mpfr_div_si(x, x, 1024, MPFR_RNDN);
        mpfr_exp2(x, x, MPFR_RNDN);
        check_pair("2^(n/1024)", n, dd_power[n], x);
    }
    for (int n = 0; n <= 64; n++) {
        mpfr_fac_ui(x, (unsigned long)n, MPFR_RNDN);
        mpfr_ui_div(x, 1, x, MPFR_RNDN);
        check_pair("1/n!", n, dd_inverse_factorial[n], x);
    }
    mpfr_const_log2(x, MPFR_RNDN);
    check_pair("ln 2", 0, dd_ln2[0], x);
    mpfr_div_si(x, x, 1024, MPFR_RNDN);
    for (int n = 0; n < 3; n++) {
        mpfr_t part;
        mpfr_init2(part, n < 2 ? 33 : 53);
        mpfr_set(part, x, MPFR_RNDN);
        must(mpfr_get_d(part, MPFR_RNDN) == dd_step[n], "part %d of ln2/1024", n);
        mpfr_sub(x, x, part, MPFR_RNDN);
        mpfr_clear(part);
    }
    /* k step is exact for |k| <= 2^20, as R-DD-EXP says */
    must(dd_step[0] * 0x1p39 == (double)(int64_t)(dd_step[0] * 0x1p39), "the first part's grid");
    must(dd_step[1] * 0x1p76 == (double)(int64_t)(dd_step[1] * 0x1p76) && __builtin_fabs(dd_step[1]) < 0x1p-44,
         "the second part's grid");
    mpfr_clear(x);
}
END_TEST

Suite *suite_dd_exp(void)
{
    Suite *suite = suite_create("dd_exp");
    TCase *tc = tcase_create("functions");
    tcase_set_timeout(tc, 3000);
    tcase_add_loop_test(tc, exponential, 0, (int)(sizeof exp_kinds / sizeof exp_kinds[0]));
    tcase_add_test(tc, sums);
    tcase_add_test(tc, series);
    tcase_add_test(tc, logarithm);
    tcase_add_test(tc, tables);
    suite_add_tcase(suite, tc);
    return suite;
}

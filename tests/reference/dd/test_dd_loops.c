/* test_dd_loops.c - the dd engine's sums on every path against exact ones: scores, values of all tiers, quotients. */
#include <string.h>

#include "tests/reference/dd/dd_paths.h"

Suite *suite_dd_loops(void);

enum { EXACT_BITS = 2000 }; /* sums of products of floats, scaled by at most 2^100 */

/* ---- scores ------------------------------------------------------------------------------------------------------ */
typedef struct scene {
    attest_problem p;
    dd_job job;
    dd_row row;
    double *q, *key, *high, *low;
} scene;

enum { PANELS = 2, KEYS = PANELS * DD_PANEL };

/* Floats with exponents in a window, some of them 0; `spread` 0: small integers, on one grid. */
static double entry(uint64_t *s, int center, int spread)
{
    if (random_below(s, 9) == 0)
        return 0;
    return spread ? dd_float(s, center - spread, center + spread) : (double)(int)(random_below(s, 2001) - 1000);
}

static void draw_scores(scene *x, uint64_t *s, int64_t d, int center, int spread, double scale)
{
    memset(x, 0, sizeof *x);
    x->p.d = d;
    x->job.p = &x->p;
    x->job.f.scale = scale;
    x->row.square = 0;
    x->q = malloc((size_t)(DD_ROWS * d) * sizeof(double));
    x->key = malloc((size_t)(KEYS * d) * sizeof(double));
    x->high = malloc(2 * DD_ROWS * KEYS * sizeof(double));
    x->low = x->high + DD_ROWS * KEYS;
    for (int64_t c = 0; c < d; c++)
        x->q[c] = entry(s, center, spread);
    for (int r = 1; r < DD_ROWS; r++) /* the same row, so that its sums must be the same */
        memcpy(x->q + r * d, x->q, (size_t)d * sizeof(double));
    for (int64_t c = 0; c < d; c++) {
        x->row.square += x->q[c] * x->q[c];
        for (int j = 0; j < KEYS; j++)
            x->key[(j / DD_PANEL * d + c) * DD_PANEL + j % DD_PANEL] = entry(s, -center, spread);
    }
    for (int j = 0; j < KEYS; j++) {
        double square = 0;
        for (int64_t c = 0; c < d; c++) {
            const double k = x->key[(j / DD_PANEL * d + c) * DD_PANEL + j % DD_PANEL];
            square += k * k;
        }
        x->job.head.key_square = square > x->job.head.key_square ? square : x->job.head.key_square;
    }
    x->row.square *= 1 + 0x1p-20;
    x->job.head.key_square *= 1 + 0x1p-20;
}

static void true_score(mpfr_t sum, const scene *x, int j)
{
    mpfr_t product;
    mpfr_init2(product, 106);
    mpfr_set_ui(sum, 0, MPFR_RNDN);
    for (int64_t c = 0; c < x->p.d; c++) {
        mpfr_set_d(product, x->q[c], MPFR_RNDN);
        mpfr_mul_d(product, product, x->key[(j / DD_PANEL * x->p.d + c) * DD_PANEL + j % DD_PANEL], MPFR_RNDN);
        mpfr_add(sum, sum, product, MPFR_RNDN);
    }
    mpfr_mul_d(sum, sum, x->job.f.scale, MPFR_RNDN);
    mpfr_clear(product);
}

/* Compares all scores; the largest share of the bound (0: exact). */
static double judge_scores(scene *x, const dd_path *path, int exact)
{
    double lowest, highest, worst = 0;
    mpfr_t sum, unit;
    mpfr_inits2(EXACT_BITS, sum, unit, (mpfr_ptr)0);
    path->range(&lowest, &highest, x->high, 0, KEYS);
    x->row.largest = highest > -lowest ? highest : -lowest;
    const double bound = dd_score_error(&x->job, &x->row);
    for (int j = 0; j < DD_ROWS * KEYS; j++) {
        must(x->high[j] == x->high[j % KEYS] && x->low[j] == x->low[j % KEYS], "rows differ at %d", j);
        must(x->high[j] + x->low[j] == x->high[j], "path %s: %a + %a is not made one pair", path->name, x->high[j],
             x->low[j]);
    }
    for (int j = 0; j < KEYS; j++) {
        true_score(sum, x, j);
        mpfr_set_d(unit, bound, MPFR_RNDN);
        if (bound == 0)
            mpfr_set_ui(unit, 1, MPFR_RNDN);
        const double share = dd_distance(x->high[j], x->low[j], sum, unit);
        must(bound == 0 ? share == 0 : share <= 1, "path %s d=%d scale=%a exact=%d: error 2^%.2f, proved 2^%.2f",
             path->name, (int)x->p.d, x->job.f.scale, exact, dd_log2_of(share * (bound > 0 ? bound : 1)),
             dd_log2_of(bound));
        worst = share > worst ? share : worst;
    }
    mpfr_clears(sum, unit, (mpfr_ptr)0);
    return worst;
}

static double compare_scores(scene *x, const dd_path *path, int exact)
{
    const int64_t k = dd_score_exponent(&x->job, &x->row);
    const double big = 1.5 * dd_power_of_two(k), bigs[DD_ROWS] = { big, big, big, big };
    x->row.exponent = exact ? DD_EXACT_SUM : k;
    if (exact)
        path->scores_exact(x->high, x->low, KEYS, x->q, x->key, x->p.d, PANELS, x->job.f.scale);
    else
        path->scores(x->high, x->low, KEYS, x->q, x->key, x->p.d, PANELS, bigs, x->job.f.scale);
    return judge_scores(x, path, exact);
}

/* The same by slices of q and k. */
static void compare_sliced_scores(scene *x, const dd_path *path)
{
    const size_t rows = (size_t)(DD_ROWS * x->p.d), keys = (size_t)(KEYS * x->p.d);
    double *q1 = malloc(2 * rows * sizeof(double)), *one = malloc(2 * keys * sizeof(double));
    const double *const q[3] = { x->q, q1, q1 + rows };
    double big[DD_PANEL];
    x->job.path = path;
    x->job.sliced = 1;
    x->row.exponent = dd_norm_exponent(x->row.square);
    x->job.head.key_exponent = dd_norm_exponent(x->job.head.key_square);
    for (int n = 0; n < DD_PANEL; n++)
        big[n] = 1.5 * dd_power_of_two(x->job.head.key_exponent + 26);
    path->slice(one, one + keys, x->key, (int64_t)keys / DD_PANEL, big);
    const double start = 1.5 * dd_power_of_two(x->row.exponent + 26);
    for (size_t c = 0; c < rows; c++) {
        q1[c] = (x->q[c] + start) - start;
        q1[rows + c] = x->q[c] - q1[c];
    }
    path->scores_sliced(x->high, x->low, KEYS, q, one, one + keys, x->p.d, PANELS, x->job.f.scale);
    judge_scores(x, path, 0);
    x->job.sliced = 0;
    free(q1);
    free(one);
}

START_TEST(scores)
{
    static const int64_t sizes[] = { 1, 3, 16, 64, 127, 128, 129, 300 };
    static const struct {
        int center, spread;
    } windows[] = { { 0, 1 }, { 0, 12 }, { 60, 60 }, { -70, 60 }, { 0, 90 } };
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 51;
    double worst = 0;
    for (size_t m = 0; m < sizeof sizes / sizeof sizes[0]; m++)
        for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
            for (int scaled = 0; scaled < 3; scaled++) {
                scene x;
                draw_scores(&x, &s, sizes[m], windows[w].center, windows[w].spread,
                            scaled == 0   ? 1
                            : scaled == 1 ? 1 / 3.0
                                          : -0x1.fffffffffffffp60);
                for (int n = 0; n < count; n++) {
                    const double share = compare_scores(&x, path[n], 0);
                    worst = share > worst ? share : worst;
                    compare_sliced_scores(&x, path[n]);
                }
                free(x.q);
                free(x.key);
                free(x.high);
                draw_scores(&x, &s, sizes[m], 0, 0, scaled == 0 ? 1 : 0.3);
                for (int n = 0; n < count; n++)
                    compare_scores(&x, path[n], 1);
                free(x.q);
                free(x.key);
                free(x.high);
            }
    must(worst > 0, "no rounding was met");
}
END_TEST

/* All products of one size and sign: the sum comes as near to the big number's half as it can. */
START_TEST(scores_at_the_edge)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 52;
    for (int trial = 0; trial < 60; trial++) {
        scene x;
        draw_scores(&x, &s, 1 + trial * 5, 0, 1, 1);
        const double q = dd_float(&s, -20, 20), k = dd_float(&s, -20, 20);
        for (int64_t c = 0; c < x.p.d; c++) {
            for (int r = 0; r < DD_ROWS; r++)
                x.q[r * x.p.d + c] = q;
            for (int j = 0; j < KEYS; j++)
                x.key[(j / DD_PANEL * x.p.d + c) * DD_PANEL + j % DD_PANEL] = k;
        }
        x.row.square = (double)x.p.d * q * q * (1 + 0x1p-20);
        x.job.head.key_square = (double)x.p.d * k * k * (1 + 0x1p-20);
        for (int n = 0; n < count; n++) {
            compare_scores(&x, path[n], 0);
            compare_sliced_scores(&x, path[n]);
        }
        free(x.q);
        free(x.key);
        free(x.high);
    }
}
END_TEST

/* ---- value sums -------------------------------------------------------------------------------------------------- */
enum { MOST_KEYS = 400 };

typedef struct sums {
    double high[DD_ROWS * MOST_KEYS], low[DD_ROWS * MOST_KEYS], value[MOST_KEYS * DD_PANEL], power[DD_PANEL];
    double uh[DD_ROWS * DD_PANEL], ul[DD_ROWS * DD_PANEL];
    dd_row row;
} sums;

/* Weights up to `top`, second parts as large as R-DD-EXP allows; columns of very different sizes. */
static void draw_sums(sums *x, uint64_t *s, int64_t keys, int top, int small)
{
    memset(x, 0, sizeof *x);
    x->row.plan.to = keys;
    x->row.top = dd_power_of_two(top);
    for (int64_t j = 0; j < DD_ROWS * MOST_KEYS; j++) {
        x->high[j] = random_below(s, 6) ? dd_uniform(s) * x->row.top * dd_power_of_two(-(int)random_below(s, 30)) : 0;
        x->low[j] = 0x1p-49 * dd_uniform(s) * x->row.top * (random_below(s, 2) ? 1 : 0x1p-30);
        x->row.sum.absolute += j < keys ? __builtin_fabs(x->high[j]) : 0;
    }
    for (int r = 1; r < DD_ROWS; r++) { /* one row four times */
        memcpy(x->high + r * MOST_KEYS, x->high, MOST_KEYS * sizeof(double));
        memcpy(x->low + r * MOST_KEYS, x->low, MOST_KEYS * sizeof(double));
    }
    for (int c = 0; c < DD_PANEL; c++) {
        const int size = c * 16 - 120;
        for (int64_t j = 0; j < keys; j++) {
            const double v = small ? (double)(int)(random_below(s, 511) - 255) * dd_power_of_two(-4)
                                   : dd_float(s, size - (int)random_below(s, 25), size);
            x->value[j * DD_PANEL + c] = v;
            const double power = dd_power_of_two(dd_exponent(v));
            x->power[c] = power > x->power[c] ? power : x->power[c];
        }
    }
}

static double compare_sums(const sums *x, const dd_path *path, double bound)
{
    mpfr_t sum, term, unit;
    double worst = 0;
    mpfr_inits2(EXACT_BITS, sum, term, unit, (mpfr_ptr)0);
    for (int c = 0; c < DD_PANEL; c++) {
        mpfr_set_ui(sum, 0, MPFR_RNDN);
        for (int64_t j = 0; j < x->row.plan.to; j++) {
            mpfr_set_d(term, x->high[j], MPFR_RNDN);
            mpfr_add_d(term, term, x->low[j], MPFR_RNDN);
            mpfr_mul_d(term, term, x->value[j * DD_PANEL + c], MPFR_RNDN);
            mpfr_add(sum, sum, term, MPFR_RNDN);
        }
        mpfr_set_d(unit, bound * x->power[c], MPFR_RNDN);
        for (int r = 0; r < DD_ROWS; r++) {
            const double share = dd_distance(x->uh[r * DD_PANEL + c], x->ul[r * DD_PANEL + c], sum, unit);
            must(share <= 1, "path %s: %d keys, column %d: %.3f of the bound", path->name, (int)x->row.plan.to, c,
                 share);
            worst = share > worst ? share : worst;
        }
    }
    mpfr_clears(sum, term, unit, (mpfr_ptr)0);
    return worst;
}

static void cut_row(const dd_path *path, sums *y, int r, int64_t keys, double cut)
{
    double *high = y->high + r * MOST_KEYS;
    path->cut(high, y->low + r * MOST_KEYS, high, 0, keys, cut);
}

START_TEST(values)
{
    static sums x, y;
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 53;
    attest_problem p = { .d = 1 };
    dd_job job = { .p = &p };
    for (int trial = 0; trial < 60; trial++) {
        const int64_t keys = 16 * (1 + random_below(&s, trial % 4 ? 6 : 25));
        draw_sums(&x, &s, keys, (int)random_below(&s, 300) - 150, 0);
        for (int n = 0; n < count; n++) {
            y = x;
            const double size = (x.row.sum.absolute + (double)keys * 0x1p-28 * x.row.top) * (1 + 0x1p-20);
            const int64_t exponent = dd_exponent(size) + 1;
            const double start = 1.5 * dd_power_of_two(exponent), starts[DD_ROWS] = { start, start, start, start };
            const double cut = path[n]->fma ? 0 : 1.5 * 0x1p24 * x.row.top;
            for (int r = 0; r < DD_ROWS && cut > 0; r++)
                cut_row(path[n], &y, r, keys, cut);
            path[n]->values(y.uh, y.ul, y.high, y.low, MOST_KEYS, y.value, 0, keys, starts, y.power);
            memcpy(x.uh, y.uh, sizeof x.uh);
            memcpy(x.ul, y.ul, sizeof x.ul);
            compare_sums(&x, path[n], dd_value_error(&x.row, &job, exponent, 0, cut));
        }
    }
}
END_TEST

/* Values of 8 bits on one grid; weights are cut so that plain sums are exact. */
START_TEST(values_on_a_grid)
{
    static sums x, y;
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 54;
    attest_problem p = { .d = 1 };
    dd_job job = { .p = &p };
    for (int trial = 0; trial < 60; trial++) {
        const int64_t keys = 16 * (1 + random_below(&s, 25));
        draw_sums(&x, &s, keys, (int)random_below(&s, 300) - 150, 1);
        for (int c = 0; c < DD_PANEL; c++)
            x.power[c] = 16;
        for (int n = 0; n < count; n++) {
            const double kept = (x.row.sum.absolute + (double)keys * 0x1p-12 * x.row.top) * (1 + 0x1p-20);
            const double step = dd_power_of_two(dd_exponent(kept * 16 / 0x1p-4) - 53), cut = 1.5 * 0x1p52 * step;
            y = x;
            for (int r = 0; r < DD_ROWS; r++)
                cut_row(path[n], &y, r, keys, cut);
            for (int64_t j = 0; j < keys; j++)
                must(y.high[j] / step == (double)(int64_t)(y.high[j] / step) &&
                         __builtin_fabs(y.high[j] - x.high[j]) <= step / 2,
                     "path %s: a cut weight", path[n]->name);
            path[n]->values_exact(y.uh, y.ul, y.high, y.low, MOST_KEYS, y.value, 0, keys);
            memcpy(x.uh, y.uh, sizeof x.uh);
            memcpy(x.ul, y.ul, sizeof x.ul);
            compare_sums(&x, path[n], dd_value_error(&x.row, &job, 0, 1, cut));
        }
    }
}
END_TEST

/* Slices of weights and values; every path has the loops, whether it prefers them or not. */
START_TEST(values_in_slices)
{
    static sums x;
    static double kept[DD_ROWS * MOST_KEYS], low[DD_ROWS * MOST_KEYS], one[MOST_KEYS * DD_PANEL],
        two[MOST_KEYS * DD_PANEL];
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 57;
    double worst = 0, big[DD_PANEL];
    attest_problem p = { .d = 1 };
    for (int trial = 0; trial < 60; trial++) {
        const int64_t keys = 16 * (1 + random_below(&s, 25));
        draw_sums(&x, &s, keys, (int)random_below(&s, 300) - 150, 0);
        const double cut = 1.5 * dd_power_of_two(dd_exponent(x.row.sum.absolute) + 25);
        for (int c = 0; c < DD_PANEL; c++)
            big[c] = 1.5 * 0x1p27 * x.power[c];
        for (int n = 0; n < count; n++) {
            const dd_job job = { .p = &p, .path = path[n] };
            path[n]->slice(one, two, x.value, keys, big);
            for (int64_t at = 0; at < keys * DD_PANEL; at++) {
                const double steps = one[at] / x.power[at % DD_PANEL] * 0x1p25;
                must(one[at] + two[at] == x.value[at] && steps == (double)(int64_t)steps, "path %s: a slice",
                     path[n]->name);
            }
            memcpy(low, x.low, sizeof low);
            for (int r = 0; r < DD_ROWS; r++)
                path[n]->cut(kept + r * MOST_KEYS, low + r * MOST_KEYS, x.high + r * MOST_KEYS, 0, keys, cut);
            path[n]->values_sliced(x.uh, x.ul, kept, x.high, low, MOST_KEYS, one, two, 0, keys);
            const double share = compare_sums(&x, path[n], dd_sliced_value_error(&x.row, &job, cut));
            worst = share > worst ? share : worst;
        }
    }
    must(worst > 0, "no rounding was met");
}
END_TEST

/* ---- quotients --------------------------------------------------------------------------------------------------- */
START_TEST(quotients)
{
    int count;
    const dd_path *const *path = dd_paths_here(&count);
    uint64_t s = 55;
    mpfr_t z, o, unit;
    double worst[DD_MOST_PATHS] = { 0 };
    mpfr_inits2(EXACT_BITS, z, o, unit, (mpfr_ptr)0);
    for (int trial = 0; trial < 3000; trial++) {
        double uh[DD_PANEL], ul[DD_PANEL], power[DD_PANEL], hi[DD_PANEL], lo[DD_PANEL], bound[DD_PANEL];
        const double zh = dd_uniform(&s) * dd_power_of_two((int)random_below(&s, 800) - 400);
        const double zl = zh * 0x1p-53 * (trial % 4 ? dd_uniform(&s) : 1 - 0x1p-53);
        for (int c = 0; c < DD_PANEL; c++) {
            uh[c] = c == 3 ? 0 : dd_uniform(&s) * dd_power_of_two((int)random_below(&s, 300) - 150);
            ul[c] = uh[c] * dd_uniform(&s) * (c % 3 ? 0x1p-53 : 2); /* not a pair yet: its sum may cancel */
            power[c] = dd_power_of_two(c);
        }
        for (int n = 0; n < count; n++) {
            path[n]->divide(hi, lo, bound, uh, ul, zh, zl, power, 0x1p-80, 0x1p-90);
            for (int c = 0; c < DD_PANEL; c++) {
                const double expected = 0x1p-90 * __builtin_fabs(hi[c]) + 0x1p-80 * power[c];
                must(__builtin_fabs(bound[c] - expected) <= 0x1p-51 * expected, "path %s: the bound", path[n]->name);
                must(hi[c] + lo[c] == hi[c], "path %s: %a + %a", path[n]->name, hi[c], lo[c]);
                mpfr_set_d(z, zh, MPFR_RNDN);
                mpfr_add_d(z, z, zl, MPFR_RNDN);
                mpfr_set_d(o, uh[c], MPFR_RNDN);
                mpfr_add_d(o, o, ul[c], MPFR_RNDN);
                mpfr_div(o, o, z, MPFR_RNDN);
                if (mpfr_zero_p(o)) {
                    must(hi[c] == 0 && lo[c] == 0, "path %s: 0/z", path[n]->name);
                    continue;
                }
                mpfr_mul_d(unit, o, 22 * 0x1p-106, MPFR_RNDN);
                const double share = dd_distance(hi[c], lo[c], o, unit);
                worst[n] = share > worst[n] ? share : worst[n];
                must(share <= 1, "path %s: %a + %a by %a + %a: %.3f of 22 2^-106", path[n]->name, uh[c], ul[c], zh, zl,
                     share);
            }
        }
    }
    for (int n = 0; n < count; n++)
        must(worst[n] > 0.05, "path %s: worst share %.3f", path[n]->name, worst[n]);
    mpfr_clears(z, o, unit, (mpfr_ptr)0);
}
END_TEST

Suite *suite_dd_loops(void)
{
    Suite *suite = suite_create("dd_loops");
    TCase *tc = tcase_create("loops");
    tcase_set_timeout(tc, 300);
    tcase_add_test(tc, scores);
    tcase_add_test(tc, scores_at_the_edge);
    tcase_add_test(tc, values);
    tcase_add_test(tc, values_on_a_grid);
    tcase_add_test(tc, values_in_slices);
    tcase_add_test(tc, quotients);
    suite_add_tcase(suite, tc);
    return suite;
}

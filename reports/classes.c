/* classes.c - what is told by class: how error/bound is distributed over its cases, and how much of the bound is slack;
 * and by variant: those whose weights or denominators are not positive, as a class of their own; how much of what was
 * judged could tell a wrong kernel from a right one, by kernel too. */
#include <gsl/gsl_sort.h>
#include <stdlib.h>
#include <string.h>

#include "reports/overview.h"

#define NAN (__builtin_nan(""))

static const char *const terms[ATTEST_BOUND_TERMS] = { "scores", "exp or polynomial", "cast", "sums", "division" };

static int is_class_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_class_figures *)entry)->name, result->class) == 0;
}

/* Room for one more case. */
static int grow(attest_class_figures *class)
{
    if (class->cases < class->capacity)
        return 1;
    const size_t capacity = class->capacity ? 2 * class->capacity : 64;
    double *ratio = realloc(class->ratio, capacity * sizeof *ratio);
    class->ratio = ratio ? ratio : class->ratio;
    double *middle = realloc(class->middle, capacity * sizeof *middle);
    class->middle = middle ? middle : class->middle;
    class->capacity = ratio && middle ? capacity : class->capacity;
    return ratio && middle;
}

static void add_shares(attest_class_figures *class, const attest_result *result)
{
    const double term[ATTEST_BOUND_TERMS] = { result->term_score, result->term_exp, result->term_cast,
                                              result->term_accumulation, result->term_division };
    double sum = 0;
    for (size_t t = 0; t < ATTEST_BOUND_TERMS; t++)
        sum += term[t];
    if (!(sum > 0 && sum - sum == 0))
        return;
    class->shared++;
    for (size_t t = 0; t < ATTEST_BOUND_TERMS; t++)
        class->share[t] += term[t] / sum;
}

attest_status attest_classes_take(attest_classes *classes, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = classes->figures;
    if (!*result->class || result->ratio_hi != result->ratio_hi || result->verdict == ATTEST_MEASURED)
        return ATTEST_OK;
    attest_class_figures *class = attest_find_or_add(&list, &classes->count, &classes->capacity, sizeof *class,
                                                     is_class_of, result, &fresh);
    classes->figures = list;
    if (!class || !grow(class))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the classes of the results");
    memcpy(class->name, result->class, sizeof class->name);
    class->ratio[class->cases++] = result->ratio_hi;
    if (result->ratio_median == result->ratio_median)
        class->middle[class->middles++] = result->ratio_median;
    add_shares(class, result);
    return ATTEST_OK;
}

/* The ceil(percent n/100)-th smallest of sorted numbers; NAN of none. */
static double quantile(const double *sorted, size_t count, size_t percent)
{
    return count ? sorted[(count * percent + 99) / 100 - 1] : NAN;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const attest_class_figures *)a)->name, ((const attest_class_figures *)b)->name);
}

void attest_classes_end(attest_classes *classes)
{
    for (size_t k = 0; k < classes->count; k++) {
        attest_class_figures *class = &classes->figures[k];
        gsl_sort(class->ratio, 1, class->cases);
        gsl_sort(class->middle, 1, class->middles);
        class->median = quantile(class->ratio, class->cases, 50);
        class->p99 = quantile(class->ratio, class->cases, 99);
        class->largest = class->ratio[class->cases - 1];
        class->slack = 1 / class->median;
        class->slack_element = 1 / quantile(class->middle, class->middles, 50);
        for (size_t t = 0; t < ATTEST_BOUND_TERMS && class->shared; t++)
            class->share[t] /= (double)class->shared;
    }
    if (classes->count > 0)
        qsort(classes->figures, classes->count, sizeof *classes->figures, by_name);
}

void attest_classes_clear(attest_classes *classes)
{
    for (size_t k = 0; k < classes->count; k++) {
        free(classes->figures[k].ratio);
        free(classes->figures[k].middle);
    }
    free(classes->figures);
    *classes = (attest_classes){ 0 };
}

/* ---- the table -------------------------------------------------------------------------------------------------- */
static void slack_cell(attest_table *table, double slack)
{
    if (slack - slack != 0 && slack == slack)
        attest_table_cell(table, "no error");
    else
        attest_table_number(table, slack);
}

static void class_row(attest_table *table, const attest_class_figures *c)
{
    size_t most = 0;
    for (size_t t = 1; t < ATTEST_BOUND_TERMS; t++)
        most = c->share[t] > c->share[most] ? t : most;
    attest_table_cell(table, "%s", c->name);
    attest_table_count(table, (int64_t)c->cases);
    attest_table_number(table, c->median);
    attest_table_number(table, c->p99);
    attest_table_number(table, c->largest);
    slack_cell(table, c->slack);
    slack_cell(table, c->slack_element);
    if (c->share[most] > 0)
        attest_table_cell(table, "%s %.0f%%", terms[most], 100 * c->share[most]);
    else
        attest_table_cell(table, "-");
}

attest_status attest_classes_print(FILE *out, const attest_classes *classes, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "class" },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "error/bound: median", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "p99", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "largest", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "bound/error: worst element", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "middle element", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "largest term" },
    };
    attest_table table;
    if (classes->count == 0)
        return ATTEST_OK;
    fputs(html ? "<h2>How tight the bounds are</h2>\n<p>A class: kind of weights, schedule that the kernel "
                 "declares, types. error/bound: the largest of each case, over the cases (also ill-posed ones, "
                 "whose other elements are judged). bound/error: 1 over the median, over the cases, of error/bound "
                 "at their worst element (the kernel came that close), and at their middle element (elements "
                 "without an error count as 0, those whose bound is 0 not at all); of an even number the lower "
                 "median. Largest term: mean share of the bound at the worst elements; division: the last "
                 "operation and the rounding to the output's type.</p>\n"
               : "\n",
          out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < classes->count; i++)
        class_row(&table, &classes->figures[i]);
    return attest_table_end(&table, err);
}

/* ---- signs ------------------------------------------------------------------------------------------------------- */
static int is_sign_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_sign *)entry)->variant, result->variant) == 0;
}

attest_status attest_signs_take(attest_signs *signs, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = signs->sign;
    if (result->rows_judged == 0)
        return ATTEST_OK;
    attest_sign *s = attest_find_or_add(&list, &signs->count, &signs->capacity, sizeof *s, is_sign_of, result, &fresh);
    signs->sign = list;
    if (!s)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", signs->count + 1);
    if (fresh)
        memcpy(s->variant, result->variant, sizeof s->variant);
    s->cases++;
    s->illposed += result->verdict == ATTEST_ILLPOSED;
    s->rows += result->rows_judged;
    s->negative_weight += result->rows_negative_weight;
    s->negative_sum += result->rows_negative_sum;
    s->vanishing += result->rows_vanishing;
    return ATTEST_OK;
}

void attest_signs_end(attest_signs *signs)
{
    size_t kept = 0;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->sign[i].negative_weight + signs->sign[i].negative_sum + signs->sign[i].vanishing)
            signs->sign[kept++] = signs->sign[i];
    signs->count = kept;
}

attest_status attest_signs_print(FILE *out, const attest_signs *signs, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "variant", .flags = ATTEST_COLUMN_CODE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "ill-posed cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "rows", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "a negative weight", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "z < 0", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "divisor may be 0", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    if (signs->count == 0)
        return ATTEST_OK;
    fputs(html ? "<h2>Negative weights and denominators</h2>\n<p>Rows of judged cases where the formula itself has "
                 "them (odd Taylor orders, linear attention); nothing is clamped. Where the divisor may be 0, o has "
                 "no truth: u and z are judged alone and the case is ill-posed.</p>\n"
               : "\n",
          out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < signs->count; i++) {
        const attest_sign *s = &signs->sign[i];
        const int64_t counts[] = { (int64_t)s->cases,  (int64_t)s->illposed, s->rows,
                                   s->negative_weight, s->negative_sum,      s->vanishing };
        attest_table_cell(&table, "%s", s->variant);
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            attest_table_count(&table, counts[k]);
    }
    return attest_table_end(&table, err);
}

/* ---- power ------------------------------------------------------------------------------------------------------- */
#define WEAK 0.9 /* a variant has a row of its own where a share is below */

static int is_power_of(const void *entry, const attest_result *result)
{
    const attest_power *p = entry;
    return strcmp(p->variant, result->variant) == 0 && strcmp(p->kernel, result->kernel) == 0;
}

attest_status attest_powers_take(attest_powers *powers, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = powers->power;
    if (result->telling != result->telling || !attest_result_judged_good(result))
        return ATTEST_OK;
    attest_power *p = attest_find_or_add(&list, &powers->count, &powers->capacity, sizeof *p, is_power_of, result,
                                         &fresh);
    powers->power = list;
    if (!p)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the power of %zu variants", powers->count + 1);
    if (fresh) {
        memcpy(p->kernel, result->kernel, sizeof p->kernel);
        memcpy(p->variant, result->variant, sizeof p->variant);
    }
    p->cases++;
    p->telling += result->telling;
    if (result->keys_seen == result->keys_seen) {
        p->keyed++;
        p->keys_seen += result->keys_seen;
    }
    return ATTEST_OK;
}

static double share(double sum, size_t count) { return count ? sum / (double)count : __builtin_nan(""); }

static void percent_cell(attest_table *table, double x)
{
    if (x == x)
        attest_table_cell(table, "%.1f%%", 100 * x);
    else
        attest_table_cell(table, "-");
}

static void power_row(attest_table *table, const attest_power *p, const char *variant)
{
    attest_table_cell(table, "%s", p->kernel);
    attest_table_cell(table, "%s", variant);
    attest_table_count(table, (int64_t)p->cases);
    percent_cell(table, share(p->telling, p->cases));
    percent_cell(table, share(p->keys_seen, p->keyed));
}

static int is_weak(const attest_power *p)
{
    return share(p->telling, p->cases) < WEAK || share(p->keys_seen, p->keyed) < WEAK;
}

/* All variants of the kernel of entry `first`, then the weak ones. */
static void kernel_rows(attest_table *table, const attest_powers *powers, size_t first)
{
    attest_power all = powers->power[first];
    for (size_t i = first + 1; i < powers->count; i++) {
        const attest_power *p = &powers->power[i];
        if (strcmp(p->kernel, all.kernel) != 0)
            continue;
        all.cases += p->cases;
        all.keyed += p->keyed;
        all.telling += p->telling;
        all.keys_seen += p->keys_seen;
    }
    power_row(table, &all, "all");
    for (size_t i = first; i < powers->count; i++)
        if (strcmp(powers->power[i].kernel, all.kernel) == 0 && is_weak(&powers->power[i]))
            power_row(table, &powers->power[i], powers->power[i].variant);
}

attest_status attest_powers_print(FILE *out, const attest_powers *powers, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_OUTSIDE },
        { .head = "variant", .flags = ATTEST_COLUMN_CODE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "elements that tell", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "keys whose loss shows", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    if (powers->count == 0)
        return ATTEST_OK;
    fputs(
        html
            ? "<h2>Would a wrong kernel have been noticed?</h2>\n<p>Means over the cases that did not fail. An element "
              "of o tells if its bound is below half its size and below its distance from the mean of v, the last v "
              "and another head's v. A key's loss shows if o without it is outside a bound in some judged row. A "
              "variant has a row of its own where one of the two is below 90%.</p>\n"
            : "\n",
        out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < powers->count; i++) {
        size_t first = 0;
        while (strcmp(powers->power[first].kernel, powers->power[i].kernel) != 0)
            first++;
        if (first == i)
            kernel_rows(&table, powers, i);
    }
    return attest_table_end(&table, err);
}

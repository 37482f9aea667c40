/* classes.c - how error/bound is distributed over the cases of each class, and how much of the bound is slack. */
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

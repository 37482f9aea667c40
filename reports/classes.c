/* classes.c - how error/bound is distributed over the cases of each class, and how much of the bound is slack. */
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

#define NAN (__builtin_nan(""))

static const char *const terms[] = { "scores", "exp or polynomial", "cast", "sums", "division" };
#define TERMS (sizeof terms / sizeof terms[0])

static void terms_of(double term[TERMS], const attest_row *row)
{
    const double all[TERMS] = { row->term_score, row->term_exp, row->term_cast, row->term_accumulation,
                                row->term_division };
    memcpy(term, all, sizeof all);
}

static int is_judged(const attest_row *row)
{
    return *row->class && row->ratio_hi == row->ratio_hi && row->verdict != ATTEST_MEASURED;
}

static int by_class(const void *a, const void *b)
{
    const attest_row *x = *(const attest_row *const *)a, *y = *(const attest_row *const *)b;
    return strcmp(x->class, y->class);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The ceil(percent n/100)-th smallest of sorted numbers; NAN of none. */
static double quantile(const double *sorted, size_t count, size_t percent)
{
    return count ? sorted[(count * percent + 99) / 100 - 1] : NAN;
}

/* `x` is scratch for `count` numbers. */
static void fill(attest_class_figures *class, const attest_row *const *row, size_t count, double *x)
{
    size_t known = 0, shared = 0;
    memset(class, 0, sizeof *class);
    memcpy(class->name, row[0]->class, sizeof class->name);
    class->cases = count;
    for (size_t i = 0; i < count; i++)
        x[i] = row[i]->ratio_hi;
    qsort(x, count, sizeof *x, by_size);
    class->median = quantile(x, count, 50);
    class->p99 = quantile(x, count, 99);
    class->largest = x[count - 1];
    class->slack = 1 / class->median;
    for (size_t i = 0; i < count; i++)
        if (row[i]->ratio_median == row[i]->ratio_median)
            x[known++] = row[i]->ratio_median;
    qsort(x, known, sizeof *x, by_size);
    class->slack_element = 1 / quantile(x, known, 50);
    for (size_t i = 0; i < count; i++) {
        double term[TERMS], sum = 0;
        terms_of(term, row[i]);
        for (size_t t = 0; t < TERMS; t++)
            sum += term[t];
        if (!(sum > 0 && sum - sum == 0))
            continue;
        shared++;
        for (size_t t = 0; t < TERMS; t++)
            class->share[t] += term[t] / sum;
    }
    for (size_t t = 0; t < TERMS && shared; t++)
        class->share[t] /= (double)shared;
}

attest_status attest_classes_rows(attest_class_figures **classes, size_t *count, const attest_rows *rows,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t judged = 0, first = 0;
    const attest_row **list = calloc(rows->count + 1, sizeof *list);
    double *x = calloc(rows->count + 1, sizeof *x);
    *count = 0;
    *classes = calloc(rows->count + 1, sizeof **classes);
    if (!list || !x || !*classes)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the classes of %zu rows", rows->count));
    for (size_t i = 0; i < rows->count; i++)
        if (is_judged(&rows->row[i]))
            list[judged++] = &rows->row[i];
    qsort(list, judged, sizeof *list, by_class);
    for (size_t i = 1; i <= judged; i++)
        if (i == judged || by_class(&list[i], &list[first]) != 0) {
            fill(&(*classes)[(*count)++], list + first, i - first, x);
            first = i;
        }
out:
    free(x);
    free(list);
    if (status != ATTEST_OK) {
        free(*classes);
        *classes = NULL;
    }
    return status;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */
static void print_slack(FILE *out, double slack)
{
    if (slack != slack)
        fprintf(out, "-");
    else if (slack - slack != 0)
        fprintf(out, "no error");
    else
        fprintf(out, "%.3g", slack);
}

static void print_class(FILE *out, const attest_class_figures *c, int html)
{
    const char *next = html ? "<td class=\"n\">" : " | ";
    size_t most = 0;
    for (size_t t = 1; t < TERMS; t++)
        most = c->share[t] > c->share[most] ? t : most;
    fputs(html ? "<tr><td>" : "| ", out);
    (html ? attest_print_xml : attest_print_cell)(out, c->name);
    fprintf(out, "%s%zu%s%.3g%s%.3g%s%.3g%s", next, c->cases, next, c->median, next, c->p99, next, c->largest, next);
    print_slack(out, c->slack);
    fprintf(out, "%s", next);
    print_slack(out, c->slack_element);
    fputs(html ? "<td>" : " | ", out);
    if (c->share[most] > 0)
        fprintf(out, "%s %.0f%%", terms[most], 100 * c->share[most]);
    else
        fputc('-', out);
    fputs(html ? "</tr>\n" : " |\n", out);
}

attest_status attest_classes_print(FILE *out, const attest_rows *rows, int html, attest_error *err)
{
    attest_class_figures *classes = NULL;
    size_t count = 0;
    const attest_status status = attest_classes_rows(&classes, &count, rows, err);
    if (status == ATTEST_OK && count > 0) {
        fputs(html ? "<h2>How tight the bounds are</h2>\n<p>A class: kind of weights, schedule that the kernel "
                     "declares, types. error/bound: the largest of each case, over the cases (also ill-posed ones, "
                     "whose other elements are judged). bound/error: 1 over the median, over the cases, of error/bound "
                     "at their worst element (the kernel came that close), and at their middle element (elements "
                     "without an error count as 0, those whose bound is 0 not at all); of an even number the lower "
                     "median. Largest term: mean share of the bound at the worst elements; division: the last "
                     "operation and the rounding to the output's type.</p>\n<div class=\"wrap\"><table><tr>"
                     "<th>class<th class=\"n\">cases<th class=\"n\">error/bound: median<th class=\"n\">p99"
                     "<th class=\"n\">largest<th class=\"n\">bound/error: worst element<th class=\"n\">middle element"
                     "<th>largest term</tr>\n"
                   : "\n| class | cases | error/bound: median | p99 | largest | bound/error: worst element | middle "
                     "element | largest term |\n|---|---:|---:|---:|---:|---:|---:|---|\n",
              out);
        for (size_t i = 0; i < count; i++)
            print_class(out, &classes[i], html);
        if (html)
            fputs("</table></div>\n", out);
    }
    free(classes);
    return status;
}

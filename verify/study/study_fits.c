/* study_fits.c - slopes on log-log paper, a line of the table for each series. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/study/study_private.h"

typedef struct series_points {
    attest_result first;
    double *x, *y;
    size_t count;
} series_points;

/* The points of the series that begins at `start`. */
static attest_status read_series(series_points *s, const attest_results *results, size_t start, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    for (s->count = 0; start + s->count < results->count; s->count++) {
        ATTEST_TRY(attest_results_get(&r, results, start + s->count, err));
        if (s->count == 0)
            s->first = r;
        if (strcmp(r.series, s->first.series) != 0)
            break;
        s->x[s->count] = r.abscissa;
        s->y[s->count] = r.ordinate;
    }
out:
    return status;
}

/* Writes the cells of one series behind its name. */
typedef void fit_cells(attest_table *table, const series_points *s, const attest_fit *fit);

static attest_status each_series(attest_table *table, const attest_results *results, fit_cells *cells,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    series_points s = { .x = calloc(results->count + 1, sizeof *s.x), .y = calloc(results->count + 1, sizeof *s.y) };
    if (!s.x || !s.y)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a series"));
    for (size_t start = 0; start < results->count; start += s.count) {
        attest_fit fit;
        ATTEST_TRY(read_series(&s, results, start, err));
        ATTEST_TRY(attest_fit_loglog(&fit, s.x, s.y, s.count, err));
        attest_table_cell(table, "%s", s.first.series);
        attest_table_count(table, (int64_t)fit.points);
        cells(table, &s, &fit);
    }
out:
    free(s.x);
    free(s.y);
    return status;
}

static void half_cell(attest_table *table, const attest_fit *fit, int digits)
{
    if (fit->half == fit->half)
        attest_table_cell(table, "%.*f", digits, fit->half);
    else
        attest_table_cell(table, "-");
}

static void order_cells(attest_table *table, const series_points *s, const attest_fit *fit)
{
    const char *p = strstr(s->first.series, " p=");
    const double expected = p ? atof(p + 3) + 1 : (double)NAN;
    attest_table_cell(table, "%.5f", fit->slope);
    attest_table_cell(table, "%.0f", expected);
    attest_table_cell(table, "%+.5f", fit->slope - expected);
    half_cell(table, fit, 5);
}

attest_status study_fits_orders(FILE *out, attest_table_format format, const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .width = 12 },
        { .head = "points", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "slope", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
        { .head = "p+1", .flags = ATTEST_COLUMN_RIGHT, .width = 8 },
        { .head = "off by", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
        { .head = "+- 95%", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_table_begin(&table, out, format, columns, sizeof columns / sizeof columns[0]);
    ATTEST_TRY(each_series(&table, results, order_cells, err));
    status = attest_table_end(&table, err);
out:
    return status;
}

static void growth_cells(attest_table *table, const series_points *s, const attest_fit *fit)
{
    (void)s;
    attest_table_cell(table, "%.2f", fit->slope);
    half_cell(table, fit, 2);
}

attest_status study_fits_growth(FILE *out, attest_table_format format, const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .flags = ATTEST_COLUMN_FIT },
        { .head = "points", .flags = ATTEST_COLUMN_RIGHT | ATTEST_COLUMN_FIT },
        { .head = "grows as x^", .flags = ATTEST_COLUMN_RIGHT | ATTEST_COLUMN_FIT },
        { .head = "+- 95%", .flags = ATTEST_COLUMN_RIGHT | ATTEST_COLUMN_FIT },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    fputc('\n', out);
    attest_table_begin(&table, out, format, columns, sizeof columns / sizeof columns[0]);
    ATTEST_TRY(each_series(&table, results, growth_cells, err));
    status = attest_table_end(&table, err);
out:
    return status;
}

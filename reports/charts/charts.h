/* charts.h - the pictures of studies: results in, an SVG by gnuplot out; and slopes on log-log paper.
 *
 * A panel is the first word of a result's series, a line the rest of it.  ATTEST_IO: "gnuplot not found", or it failed;
 * then the file is as it was.  Reads results only; knows no study.
 */
#ifndef ATTEST_CHARTS_H
#define ATTEST_CHARTS_H

#include "reports/report.h"

typedef struct attest_fit {
    double slope, intercept, residual;
    double half; /* slope +- half: 95% confidence by Student's t, if the residuals were normal; NAN below 3 points */
    size_t points;
} attest_fit;
/* Least squares y = intercept + slope x over the finite points with y > 0, on (log2 x, log2 y). */
attest_status attest_fit_loglog(attest_fit *fit, const double *x, const double *y, size_t count, attest_error *err);

/* The next two also draw NAME-narrow.svg, 380 wide, beside NAME.svg: the page shows it on narrow screens.
 * Error against order: abscissa = order, a line a range with truncation (solid) and rounding (dashed). */
attest_status attest_chart_order(const attest_results *results, const char *svg_path, attest_error *err);
/* Error against range: a line an order; fitted slope beside p+1. */
attest_status attest_chart_range(const attest_results *results, const char *svg_path, attest_error *err);

/* Any study: a panel for each first word of a series, a line for the rest of it, bars from least to greatest ordinate.
 */
typedef struct attest_chart_axes {
    const char *x, *y, *panel; /* panel: what stands before its word, "" for nothing */
    int log_x;                 /* its base, 2 or 10; 0: linear */
    const char *labelled;      /* NULL: every line is drawn; else points only, but this one, with its variants */
    int linear_y;              /* shares, from 0 to 1; else logarithmic */
} attest_chart_axes;
attest_status attest_chart_lines(const attest_results *results, const attest_chart_axes *axes, const char *svg_path,
                                 attest_error *err);

/* For captions: the different values of a text field that lies at `offset` of a result, but "", as words, in order of
 * first appearance: `f32`, `f32 and bf16`; after four of them `and others`. */
#define ATTEST_CHART_VALUES 2200
attest_status attest_chart_values(char *text, size_t len, const attest_results *results, size_t offset,
                                  attest_error *err);

#endif

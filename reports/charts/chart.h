/* chart.h - what the charts of studies share: points, panels, lines, and gnuplot; for the files of reports/.
 *
 * A panel is the first word of a series, a line the rest of it; points of one line stand one after another.
 */
#ifndef ATTEST_CHART_H
#define ATTEST_CHART_H

#include "reports/charts/charts.h"

#define CHART_PANELS 12
#define CHART_LINES 24 /* of a panel: more are not drawn, and the chart says how many */

/* What a chart shows of a result. */
typedef struct chart_point {
    char series[sizeof((attest_result *)0)->series];
    char variant[24];
    double abscissa, ordinate, least, most, truncation, rounding, total, range;
} chart_point;

/* The points of one line. */
typedef struct chart_line {
    size_t start, end;
    const char *label; /* the series without its first word */
    size_t style;      /* of `ls`, from 1: the same label looks the same in every panel */
} chart_line;

typedef struct chart_panel {
    char name[64];
    chart_line line[CHART_LINES];
    size_t count, left_out;
} chart_panel;

typedef struct chart_data {
    chart_point *point;
    size_t count;
    chart_panel panel[CHART_PANELS];
    size_t panels;
} chart_data;

/* Writes the commands of panel `panel`: a title, axes, and one `plot`. */
typedef attest_status chart_panel_writer(FILE *gp, size_t panel, const chart_data *data, const void *context,
                                         attest_error *err);

/* Reads the points, writes a panel for each first word, in two columns, and has gnuplot draw them into `svg_path`; with
 * `narrow` once more, 380 wide and in one column, into NAME-narrow.svg beside NAME.svg.
 * ATTEST_IO: "gnuplot not found", or it failed. */
attest_status chart_make(const attest_results *results, const char *svg_path, chart_panel_writer *write,
                         const void *context, int narrow, attest_error *err);

/* One data block of a line: `$NAME_panel_line << EOD`, a row a point; what is not finite or, of values, not above 0 is
 * NaN.  `least` and `most` may be NULL. */
void chart_block(FILE *gp, const char *name, size_t panel, size_t index, const chart_data *data,
                 double (*value)(const chart_point *));

/* Text inside '..' of gnuplot: without what it would take for markup. */
void chart_text(char *to, size_t size, const char *from);

#endif

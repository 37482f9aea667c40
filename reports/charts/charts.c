/* charts.c - the charts: error against order, error against range, lines of any study, time against error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/charts/chart.h"

static double truncation_of(const chart_point *p) { return p->truncation; }
static double rounding_of(const chart_point *p) { return p->rounding; }
static double ordinate_of(const chart_point *p) { return p->ordinate; }

/* What stands in the series behind its second word: ` in=bf16`; "": nothing. */
static const char *others_of(const chart_line *l)
{
    const char *blank = strchr(l->label, ' ');
    return blank ? blank : "";
}

static void tell_left_out(FILE *gp, const chart_panel *panel)
{
    if (panel->left_out > 0)
        fprintf(gp, ", \\\n NaN w l lc rgb '#ffffff' t '(%zu more lines)'", panel->left_out);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */
static double last_abscissa(const chart_data *data)
{
    double last = 1;
    for (size_t i = 0; i < data->count; i++)
        last = data->point[i].abscissa > last ? data->point[i].abscissa : last;
    return last;
}

static attest_status order_panel(FILE *gp, size_t at, const chart_data *data, const void *context, attest_error *err)
{
    const chart_panel *panel = &data->panel[at];
    const double last = last_abscissa(data);
    char others[160];
    (void)context;
    (void)err;
    for (size_t i = 0; i < panel->count; i++) {
        chart_block(gp, "t", at, i, data, truncation_of);
        chart_block(gp, "r", at, i, data, rounding_of);
    }
    fprintf(gp,
            "set title 'center = %s'\nset xlabel 'Taylor order P'\nset ylabel 'largest absolute error of o'\n"
            "set samples 2\nset xrange [-0.3:%.17g]\nset yrange [1e-17:1e3]\nset xtics %d\n"
            "plot 2.0**-24 w l lc rgb '#000000' lw 1 dt 3 t 'u of f32', 2.0**-8 w l lc rgb '#000000' lw 1 dt 4 t 'u of "
            "bf16'",
            panel->name, last + 0.3, last > 24 ? 8 : 2);
    for (size_t i = 0; i < panel->count; i++) {
        chart_text(others, sizeof others, others_of(&panel->line[i]));
        fprintf(gp, ", \\\n $t_%zu_%zu u 1:2 w lp ls %zu t 'R = %.3g%s'", at, i, panel->line[i].style,
                data->point[panel->line[i].start].range, others);
    }
    for (size_t i = 0; i < panel->count; i++)
        fprintf(gp, ", \\\n $r_%zu_%zu u 1:2 w l ls %zu lw 1 dt 2 notitle", at, i, panel->line[i].style);
    tell_left_out(gp, panel);
    fprintf(gp, ", \\\n NaN w l lc rgb '#777777' lw 1 dt 2 t 'rounding'\n");
    return ATTEST_OK;
}

/* ---- range ------------------------------------------------------------------------------------------------------- */
/* `P=3: 4.000 (4)`: order, slope, slope as R -> 0. */
static attest_status fit_title(char *title, size_t len, const chart_data *data, const chart_line *l, attest_error *err)
{
    const size_t count = l->end - l->start;
    const char *equals = strchr(l->label, '=');
    const int order = equals ? atoi(equals + 1) : 0;
    attest_fit fit;
    char others[160];
    double *xy = calloc(2 * count + 1, sizeof *xy);
    if (!xy)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a fit of %zu points", count);
    for (size_t k = 0; k < count; k++) {
        xy[k] = data->point[l->start + k].abscissa;
        xy[count + k] = data->point[l->start + k].ordinate;
    }
    const attest_status status = attest_fit_loglog(&fit, xy, xy + count, count, err);
    chart_text(others, sizeof others, others_of(l));
    snprintf(title, len, "P=%d: %.3f (%d)%s", order, fit.slope, order + 1, others);
    free(xy);
    return status;
}

static attest_status range_panel(FILE *gp, size_t at, const chart_data *data, const void *context, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const chart_panel *panel = &data->panel[at];
    char title[CHART_LINES][256];
    (void)context;
    for (size_t i = 0; i < panel->count; i++) {
        ATTEST_TRY(fit_title(title[i], sizeof title[i], data, &panel->line[i], err));
        chart_block(gp, "s", at, i, data, ordinate_of);
    }
    fprintf(gp,
            "set title 'center = %s'\nset xlabel '%s'\nset ylabel 'largest |w_T/w - 1|'\nset logscale x 2\n"
            "set format x '2^{%%L}'\nset key title 'slope (P+1)'\nplot ",
            panel->name, strcmp(panel->name, "zero") == 0 ? "largest abs(score)" : "score range R");
    for (size_t i = 0; i < panel->count; i++)
        fprintf(gp, "%s$s_%zu_%zu u 1:2 w lp ls %zu t '%s'", i ? ", \\\n " : "", at, i, panel->line[i].style, title[i]);
    tell_left_out(gp, panel);
    fprintf(gp, "\n");
out:
    return status;
}

/* ---- any study --------------------------------------------------------------------------------------------------- */
/* Least and greatest of each point, as bars without ends; a point of one seed has none. */
static void spread_block(FILE *gp, size_t at, size_t index, const chart_data *data)
{
    const chart_line *l = &data->panel[at].line[index];
    fprintf(gp, "$b_%zu_%zu << EOD\n", at, index);
    for (size_t i = l->start; i < l->end; i++) {
        const chart_point *p = &data->point[i];
        if (p->least > 0 && p->most > p->least && isfinite(p->most))
            fprintf(gp, "%.17g %.17g %.17g %.17g\n", p->abscissa, p->ordinate, p->least, p->most);
        else
            fprintf(gp, "%.17g NaN NaN NaN\n", p->abscissa);
    }
    fprintf(gp, "EOD\n");
}

/* The points of a line with their variants, for labels. */
static void label_block(FILE *gp, size_t at, size_t index, const chart_data *data)
{
    const chart_line *l = &data->panel[at].line[index];
    char text[64];
    fprintf(gp, "$v_%zu_%zu << EOD\n", at, index);
    for (size_t i = l->start; i < l->end; i++) {
        const chart_point *p = &data->point[i];
        chart_text(text, sizeof text, p->variant);
        if (p->abscissa > 0 && p->ordinate > 0)
            fprintf(gp, "%.17g %.17g %s\n", p->abscissa, p->ordinate, *text ? text : "-");
    }
    fprintf(gp, "EOD\n");
}

/* One line: points joined, with bars; or where one is labelled, points alone, and that one as steps with labels. */
static void plot_line(FILE *gp, size_t at, size_t i, const chart_panel *panel, const char *labelled)
{
    const size_t style = panel->line[i].style;
    char text[160];
    chart_text(text, sizeof text, panel->line[i].label);
    fputs(i ? ", \\\n " : "", gp);
    if (!labelled) {
        fprintf(gp, "$s_%zu_%zu u 1:2 w lp ls %zu t '%s', \\\n ", at, i, style, text);
        fprintf(gp, "$b_%zu_%zu u 1:3:(0):($4-$3) w vectors nohead ls %zu lw 1 dt 1 notitle", at, i, style);
    } else if (strcmp(panel->line[i].label, labelled) == 0) {
        fprintf(gp, "$s_%zu_%zu u 1:2 w steps lc rgb '#000000' lw 1 t '%s', \\\n ", at, i, text);
        fprintf(gp, "$v_%zu_%zu u 1:2:3 w labels left offset 0.4,0.5 font ',9' notitle", at, i);
    } else {
        fprintf(gp, "$s_%zu_%zu u 1:2 w p ls %zu ps 0.8 t '%s'", at, i, style, text);
    }
}

static attest_status lines_panel(FILE *gp, size_t at, const chart_data *data, const void *context, attest_error *err)
{
    const chart_panel *panel = &data->panel[at];
    const attest_chart_axes *axes = context;
    char text[160];
    (void)err;
    for (size_t i = 0; i < panel->count; i++) {
        chart_block(gp, "s", at, i, data, ordinate_of);
        spread_block(gp, at, i, data);
        label_block(gp, at, i, data);
    }
    chart_text(text, sizeof text, panel->name);
    fprintf(gp, "set title '%s%s' noenhanced\nset xlabel '%s' noenhanced\nset ylabel '%s' noenhanced\n", axes->panel,
            text, axes->x, axes->y);
    if (axes->labelled) /* room for the labels */
        fprintf(gp, "set offsets graph 0.05, graph 0.15, graph 0.05, graph 0.05\n");
    if (axes->log_x)
        fprintf(gp, "set logscale x %d\nset format x '%d^{%%L}'\n", axes->log_x, axes->log_x);
    if (axes->linear_y)
        fprintf(gp, "unset logscale y\nset format y '%%g'\nset yrange [0:1.05]\n");
    fputs("plot ", gp);
    for (size_t i = 0; i < panel->count; i++)
        plot_line(gp, at, i, panel, axes->labelled);
    tell_left_out(gp, panel);
    fputs("\n", gp);
    return ATTEST_OK;
}

attest_status attest_chart_order(const attest_results *results, const char *svg_path, attest_error *err)
{
    return chart_make(results, svg_path, order_panel, NULL, 1, err);
}

attest_status attest_chart_range(const attest_results *results, const char *svg_path, attest_error *err)
{
    return chart_make(results, svg_path, range_panel, NULL, 1, err);
}

attest_status attest_chart_lines(const attest_results *results, const attest_chart_axes *axes, const char *svg_path,
                                 attest_error *err)
{
    return chart_make(results, svg_path, lines_panel, axes, 0, err);
}

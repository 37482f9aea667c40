/* chart.c - the two study charts, drawn by gnuplot into SVG: one panel a center, a line a range or order; and slopes on
 * log-log paper, by GSL least squares. */
#include <errno.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/report.h"

attest_status attest_fit_loglog(attest_fit *fit, const double *x, const double *y, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double cov00, cov01, cov11, sum;
    *fit = (attest_fit){ NAN, NAN, NAN, 0 };
    double *lx = malloc((count + 1) * sizeof *lx), *ly = malloc((count + 1) * sizeof *ly);
    if (!lx || !ly)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a fit of %zu points", count));
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i]) && x[i] > 0 && y[i] > 0) {
            lx[fit->points] = log2(x[i]);
            ly[fit->points] = log2(y[i]);
            fit->points++;
        }
    if (fit->points >= 2) {
        gsl_fit_linear(lx, 1, ly, 1, fit->points, &fit->intercept, &fit->slope, &cov00, &cov01, &cov11, &sum);
        fit->residual = sqrt(sum / (double)fit->points);
    }
out:
    free(lx);
    free(ly);
    return status;
}

static const char *const centers[] = { "zero", "max", "min", "mid" };
/* Okabe-Ito: told apart by colour-blind readers. */
static const char *const palette[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9" };

#define PANEL_LINES 6

/* What a chart shows of a result. */
typedef struct point {
    char series[64];
    double abscissa, ordinate, truncation, rounding, range;
} point;

typedef struct points {
    point *point;
    size_t count;
} points;

/* The points of one line of a panel: consecutive ones with one series text. */
typedef struct line {
    size_t start, end;
} line;

static attest_status take(void *state, const attest_result *result, attest_error *err)
{
    points *p = state;
    (void)err; /* there is room for all */
    point *to = &p->point[p->count++];
    *to = (point){ "", result->abscissa, result->ordinate, result->truncation, result->rounding, result->range };
    memcpy(to->series, result->series, sizeof to->series);
    return ATTEST_OK;
}

/* Lines whose series starts with `center `; returns how many (at most PANEL_LINES). */
static size_t panel_lines(line lines[PANEL_LINES], const points *p, const char *center)
{
    const size_t len = strlen(center);
    size_t count = 0;
    for (size_t start = 0, end; start < p->count; start = end) {
        const char *series = p->point[start].series;
        for (end = start; end < p->count && strcmp(p->point[end].series, series) == 0; end++)
            ;
        if (count < PANEL_LINES && strncmp(series, center, len) == 0 && series[len] == ' ')
            lines[count++] = (line){ start, end };
    }
    return count;
}

static void print_style(FILE *gp)
{
    for (size_t i = 0; i < PANEL_LINES; i++)
        fprintf(gp, "set style line %zu lc rgb '%s' lw 1.6 pt %zu ps 0.5\n", i + 1, palette[i], i + 4);
    fprintf(gp, "set grid lc rgb '#dddddd'\nset logscale y\nset format y '10^{%%L}'\nset rmargin 21\n"
                "set key at graph 1.02, graph 1 left top Left reverse samplen 1.5\nset border lc rgb '#444444'\n");
}

/* One data block a line and column: $NAME_panel_line. */
static void print_block(FILE *gp, const char *name, size_t panel, size_t index, const points *p, line l,
                        double (*value)(const point *))
{
    fprintf(gp, "$%s_%zu_%zu << EOD\n", name, panel, index);
    for (size_t i = l.start; i < l.end; i++) {
        const double y = value(&p->point[i]);
        if (isfinite(y) && y > 0)
            fprintf(gp, "%.17g %.17g\n", p->point[i].abscissa, y);
        else
            fprintf(gp, "%.17g NaN\n", p->point[i].abscissa);
    }
    fprintf(gp, "EOD\n");
}

static double truncation_of(const point *p) { return p->truncation; }
static double rounding_of(const point *p) { return p->rounding; }
static double ordinate_of(const point *p) { return p->ordinate; }

static void order_panel(FILE *gp, size_t panel, const points *p)
{
    line lines[PANEL_LINES];
    const size_t count = panel_lines(lines, p, centers[panel]);
    for (size_t i = 0; i < count; i++) {
        print_block(gp, "t", panel, i, p, lines[i], truncation_of);
        print_block(gp, "r", panel, i, p, lines[i], rounding_of);
    }
    fprintf(gp,
            "set title 'center = %s'\nset xlabel 'Taylor order P'\nset ylabel 'largest absolute error of o'\n"
            "set xrange [-0.3:12.3]\nset yrange [1e-17:1e3]\nset xtics 2\n"
            "plot 2.0**-24 w l lc rgb '#000000' lw 1 dt 3 t 'u of f32', 2.0**-8 w l lc rgb '#000000' lw 1 dt 4 t 'u of "
            "bf16'",
            centers[panel]);
    for (size_t i = 0; i < count; i++)
        fprintf(gp, ", \\\n $t_%zu_%zu u 1:2 w lp ls %zu t 'R = %.3g'", panel, i, i + 1,
                p->point[lines[i].start].range);
    for (size_t i = 0; i < count; i++)
        fprintf(gp, ", \\\n $r_%zu_%zu u 1:2 w l ls %zu lw 1 dt 2 notitle", panel, i, i + 1);
    fprintf(gp, ", \\\n NaN w l lc rgb '#777777' lw 1 dt 2 t 'rounding'\n");
}

static attest_status range_panel(FILE *gp, size_t panel, const points *p, attest_error *err)
{
    attest_status status = ATTEST_OK;
    line lines[PANEL_LINES];
    char title[PANEL_LINES][64];
    double x[64], y[64];
    const size_t count = panel_lines(lines, p, centers[panel]);
    for (size_t i = 0; i < count; i++) {
        const size_t used = lines[i].end - lines[i].start < 64 ? lines[i].end - lines[i].start : 64;
        const char *equals = strchr(p->point[lines[i].start].series, '=');
        attest_fit fit;
        for (size_t k = 0; k < used; k++) {
            x[k] = p->point[lines[i].start + k].abscissa;
            y[k] = p->point[lines[i].start + k].ordinate;
        }
        ATTEST_TRY(attest_fit_loglog(&fit, x, y, used, err));
        const int order = equals ? atoi(equals + 1) : 0;
        snprintf(title[i], sizeof title[i], "P=%d: %.3f (%d)", order, fit.slope, order + 1);
        print_block(gp, "s", panel, i, p, lines[i], ordinate_of);
    }
    fprintf(gp,
            "set title 'center = %s'\nset xlabel '%s'\nset ylabel 'largest |w_T/w - 1|'\nset logscale x 2\n"
            "set format x '2^{%%L}'\nset key title 'slope (P+1)'\nplot ",
            centers[panel], panel == 0 ? "largest abs(score)" : "score range R");
    for (size_t i = 0; i < count; i++)
        fprintf(gp, "%s$s_%zu_%zu u 1:2 w lp ls %zu t '%s'", i ? ", \\\n " : "", panel, i, i + 1, title[i]);
    fprintf(gp, "%s\n", count ? "" : "NaN notitle");
out:
    return status;
}

/* gnuplot reads the script from its standard input and writes the SVG to a temporary file; renamed when it exits 0. */
static attest_status draw(const char *svg_path, const char *script, attest_error *err)
{
    attest_output out;
    attest_status status = ATTEST_OK;
    if (strpbrk(svg_path, "'\n\\"))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: a path with a quote or backslash cannot be given to gnuplot",
                           svg_path);
    ATTEST_TRY(attest_output_open(&out, svg_path, err));
    FILE *gp = popen("gnuplot -", "w");
    if (!gp)
        ATTEST_TRY(attest_fail(err, ATTEST_IO, "gnuplot: cannot start: %s", strerror(errno)));
    fprintf(gp,
            "set terminal svg size 1200,900 dynamic font 'sans-serif,12' background rgb 'white'\nset output '%s'\n%s",
            out.temporary, script);
    const int code = pclose(gp);
    if (code != 0)
        status = attest_fail(err, ATTEST_IO,
                             WIFEXITED(code) && WEXITSTATUS(code) == 127 ? "gnuplot not found" : "gnuplot failed on %s",
                             svg_path);
out:
    return attest_output_close(&out, status, err);
}

/* Four panels; `range` chooses the kind. */
static attest_status chart(const attest_results *results, const char *svg_path, int range, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *script = NULL;
    size_t size = 0;
    points p = { .point = calloc(results->count + 1, sizeof *p.point) };
    FILE *gp = open_memstream(&script, &size);
    if (!gp || !p.point)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a chart"));
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, &p }, 1, err));
    print_style(gp);
    fprintf(gp, "set multiplot layout 2,2\n");
    for (size_t panel = 0; panel < 4; panel++)
        if (range)
            ATTEST_TRY(range_panel(gp, panel, &p, err));
        else
            order_panel(gp, panel, &p);
    fprintf(gp, "unset multiplot\nunset output\n");
    if (fflush(gp) != 0)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a chart"));
    status = draw(svg_path, script, err);
out:
    if (gp)
        fclose(gp);
    free(script);
    free(p.point);
    return status;
}

attest_status attest_chart_order(const attest_results *results, const char *svg_path, attest_error *err)
{
    return chart(results, svg_path, 0, err);
}

attest_status attest_chart_range(const attest_results *results, const char *svg_path, attest_error *err)
{
    return chart(results, svg_path, 1, err);
}

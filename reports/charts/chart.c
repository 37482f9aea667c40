/* chart.c - what the charts of studies share: points, panels and lines of results, and gnuplot, which draws them. */
#include "reports/charts/chart.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Okabe-Ito: told apart by colour-blind readers. */
static const char *const palette[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9" };
#define COLOURS (sizeof palette / sizeof palette[0])
#define LONG_LABEL 26 /* beside a longer one two panels have no room */

static attest_status take(void *state, const attest_result *result, attest_error *err)
{
    chart_data *data = state;
    (void)err; /* there is room for all */
    chart_point *to = &data->point[data->count++];
    *to = (chart_point){ "",
                         "",
                         result->abscissa,
                         result->ordinate,
                         result->ordinate_least,
                         result->ordinate_most,
                         result->truncation,
                         result->rounding,
                         result->total_hi,
                         result->range };
    memcpy(to->series, result->series, sizeof to->series);
    snprintf(to->variant, sizeof to->variant, "%.23s", result->variant);
    return ATTEST_OK;
}

/* The panel of a series, made where there is room for it; NULL where there is none. */
static chart_panel *panel_of(chart_data *data, const char *series)
{
    const size_t len = strcspn(series, " ");
    size_t at = 0;
    while (at < data->panels && (strlen(data->panel[at].name) != len || strncmp(data->panel[at].name, series, len)))
        at++;
    if (at == CHART_PANELS || len >= sizeof data->panel[0].name)
        return NULL;
    if (at == data->panels) {
        memcpy(data->panel[at].name, series, len); /* the rest is 0 */
        data->panels++;
    }
    return &data->panel[at];
}

static void find_lines(chart_data *data)
{
    for (size_t start = 0, end; start < data->count; start = end) {
        const char *series = data->point[start].series;
        chart_panel *panel = panel_of(data, series);
        for (end = start; end < data->count && strcmp(data->point[end].series, series) == 0; end++)
            ;
        const size_t len = strcspn(series, " ");
        if (panel && panel->count < CHART_LINES)
            panel->line[panel->count++] = (chart_line){ start, end, series + len + (series[len] == ' '), 0 };
        else if (panel)
            panel->left_out++;
    }
}

/* Labels in the order in which they first appear, from the first panel on. */
static void choose_styles(chart_data *data)
{
    size_t next = 0;
    for (size_t p = 0; p < data->panels; p++)
        for (size_t l = 0; l < data->panel[p].count; l++) {
            chart_line *line = &data->panel[p].line[l];
            for (size_t q = 0; q < p && !line->style; q++)
                for (size_t m = 0; m < data->panel[q].count && !line->style; m++)
                    if (strcmp(data->panel[q].line[m].label, line->label) == 0)
                        line->style = data->panel[q].line[m].style;
            if (!line->style)
                line->style = next++ % CHART_LINES + 1;
        }
}

void chart_text(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; *from && n + 1 < size; from++)
        to[n++] = *from == '\'' || *from == '\\' || *from == '{' || *from == '}' || *from == '@' ? '.' : *from;
    to[n] = '\0';
}

void chart_block(FILE *gp, const char *name, size_t panel, size_t index, const chart_data *data,
                 double (*value)(const chart_point *))
{
    const chart_line *l = &data->panel[panel].line[index];
    fprintf(gp, "$%s_%zu_%zu << EOD\n", name, panel, index);
    for (size_t i = l->start; i < l->end; i++) {
        const double y = value(&data->point[i]);
        if (isfinite(y) && y > 0)
            fprintf(gp, "%.17g %.17g\n", data->point[i].abscissa, y);
        else
            fprintf(gp, "%.17g NaN\n", data->point[i].abscissa);
    }
    fprintf(gp, "EOD\n");
}

/* Characters of the longest label: the key stands beside the panel. */
static size_t longest_label(const chart_data *data)
{
    size_t longest = 0;
    for (size_t p = 0; p < data->panels; p++)
        for (size_t l = 0; l < data->panel[p].count; l++) {
            const size_t len = strlen(data->panel[p].line[l].label);
            longest = len > longest ? len : longest;
        }
    return longest;
}

static size_t most_lines(const chart_data *data)
{
    size_t most = 0;
    for (size_t p = 0; p < data->panels; p++)
        most = data->panel[p].count > most ? data->panel[p].count : most;
    return most;
}

/* Line styles 1..CHART_LINES: six colours, and other dashes for the next six.  The key stands beside the panel, of a
 * narrow chart below it. */
static void print_style(FILE *gp, const chart_data *data, int narrow)
{
    const size_t longest = longest_label(data) + 8;
    for (size_t i = 0; i < CHART_LINES; i++)
        fprintf(gp, "set style line %zu lc rgb '%s' lw 1.6 pt %d ps 0.5 dt %zu\n", i + 1, palette[i % COLOURS],
                narrow ? -1 : (int)(i % 12 + 4), i / COLOURS + 1);
    fprintf(gp, "set grid lc rgb '#dddddd'\nset logscale y\nset format y '10^{%%L}'\nunset mytics\nunset mxtics\n"
                "set border lc rgb '#444444'\n");
    if (narrow)
        fprintf(gp, "set rmargin 1\nset key title ' ' noenhanced below left Left reverse samplen 1 maxcols %d\n",
                longest > 25 ? 1 : 2);
    else
        fprintf(gp, "set rmargin %zu\nset key noenhanced at graph 1.02, graph 1 left top Left reverse samplen 1.5\n",
                longest > 21 ? longest : 21);
}

/* Runs gnuplot on the file `script`: its exit code, 127 where there is none.  No pipe: who does not read it would
 * end us by SIGPIPE. */
static attest_status run_gnuplot(int *code, FILE *script, attest_error *err)
{
    static char program[] = "gnuplot", plain[] = "-d", input[] = "-"; /* -d: nothing of ~/.gnuplot */
    char *const arguments[] = { program, plain, input, NULL };
    posix_spawn_file_actions_t actions;
    pid_t child;
    int ended;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to start gnuplot");
    int failed = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (failed == 0) /* of a range of one point it says something */
        failed = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (failed == 0)
        failed = posix_spawnp(&child, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    *code = 127;
    if (failed == ENOENT || failed == EACCES)
        return ATTEST_OK;
    if (failed)
        return attest_fail(err, failed == ENOMEM ? ATTEST_NO_MEMORY : ATTEST_IO, "gnuplot: cannot start: %s",
                           strerror(failed));
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
    return ATTEST_OK;
}

/* gnuplot does not tell that it could not write, as on a full disk. */
static int ends_as_svg(const char *path)
{
    char tail[16] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    const int got = size > 9 && pread(fd, tail, 9, size - 9) == 9;
    if (fd >= 0)
        close(fd);
    return got && strstr(tail, "</svg>") != NULL;
}

/* gnuplot writes the SVG to a temporary file; renamed when it exits 0 and has written all of it. */
static attest_status draw(const char *svg_path, const char *text, size_t width, size_t height, attest_error *err)
{
    attest_output out;
    attest_status status = ATTEST_OK;
    FILE *script = NULL;
    int code = 127;
    if (strpbrk(svg_path, "'\n\\"))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: a path with a quote or backslash cannot be given to gnuplot",
                           svg_path);
    ATTEST_TRY(attest_output_open(&out, svg_path, err));
    script = tmpfile();
    if (!script)
        ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_IO), "no temporary file: %s", strerror(errno)));
    fprintf(script,
            "set terminal svg size %zu,%zu dynamic font 'sans-serif,%d' background rgb 'white'\nset output '%s'\n%s",
            width, height, width < 600 ? 14 : 12, out.temporary, text); /* exponents are 0.8 of it: 11 and more */
    if (fflush(script) != 0 || ferror(script) || lseek(fileno(script), 0, SEEK_SET) != 0)
        ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_IO), "a temporary file: %s", strerror(errno)));
    ATTEST_TRY(run_gnuplot(&code, script, err));
    if (code != 0)
        status = attest_fail(err, ATTEST_IO, code == 127 ? "gnuplot not found" : "gnuplot failed on %s", svg_path);
    else if (!ends_as_svg(out.temporary))
        status = attest_fail(err, ATTEST_IO, "%s: gnuplot could not write all of it", svg_path);
out:
    if (script)
        fclose(script);
    return attest_output_close(&out, status, err);
}

/* The panels in two columns of 600 (long labels: one of 1200), or in one of 380. */
static attest_status make(const chart_data *data, const char *svg_path, chart_panel_writer *write, const void *context,
                          int narrow, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *script = NULL;
    size_t size = 0;
    FILE *gp = open_memstream(&script, &size);
    if (!gp)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a chart");
    const size_t columns = !narrow && data->panels > 1 && longest_label(data) <= LONG_LABEL ? 2 : 1;
    const size_t rows = data->panels ? (data->panels + columns - 1) / columns : 1, lines = most_lines(data) + 5;
    const size_t beside = lines > 25 ? 18 * lines : 450, below = 320 + 21 * lines;
    print_style(gp, data, narrow);
    fprintf(gp, "set multiplot layout %zu,%zu\n", rows, columns);
    for (size_t panel = 0; panel < data->panels; panel++)
        ATTEST_TRY(write(gp, panel, data, context, err));
    fprintf(gp, "unset multiplot\nunset output\n");
    if (fflush(gp) != 0)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for a chart"));
    status = draw(svg_path, script, narrow ? 380 : 1200, rows * (narrow ? below : beside), err);
out:
    fclose(gp);
    free(script);
    return status;
}

attest_status chart_make(const attest_results *results, const char *svg_path, chart_panel_writer *write,
                         const void *context, int narrow, attest_error *err)
{
    attest_status status = ATTEST_OK;
    chart_data data = { .point = calloc(results->count + 1, sizeof *data.point) };
    char path[4096];
    const size_t length = strlen(svg_path) > 4 ? strlen(svg_path) - 4 : 0; /* without .svg */
    if (!data.point)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a chart");
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, &data }, 1, err));
    find_lines(&data);
    choose_styles(&data);
    ATTEST_TRY(make(&data, svg_path, write, context, 0, err));
    if (narrow && snprintf(path, sizeof path, "%.*s-narrow.svg", (int)length, svg_path) < (int)sizeof path)
        ATTEST_TRY(make(&data, path, write, context, 1, err));
out:
    free(data.point);
    return status;
}

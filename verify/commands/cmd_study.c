/* cmd_study.c - `attest study order|range`: error against Taylor order, and against score range.
 *
 * order: taylor:0..12 at six score ranges and four centers.  truncation = largest |o_P - o_exp| over the
 * outputs (pure reference); rounding = largest |got - o_P| of the kernel taylor-direct-f32 on the same inputs.
 * range: max over keys of |w_T/w - 1| (weights normalised) for orders 1..6 as the scores of one asymmetric row
 * shrink together; centers max, min, mid against the range R, center zero against max|s|.
 * Both write study-NAME.jsonl, .csv and .svg with --out, and print a table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/draw/draw.h"
#include "reports/report.h"
#include "verify/commands/cli.h"
#include "verify/gate/gate.h"

static const char *const centers[] = { "zero", "max", "min", "mid" };

static void point(attest_result *result, const char *study, const attest_prepared *prepared)
{
    snprintf(result->suite, sizeof result->suite, "study-%s", study);
    attest_result_describe(result, &prepared->c, prepared->line, prepared->hash);
    result->verdict = ATTEST_MEASURED;
}

static attest_status prepare_line(attest_prepared *prepared, const char *line, attest_error *err)
{
    attest_case c;
    const attest_status status = attest_case_parse(&c, line, NULL, NULL, err);
    return status == ATTEST_OK ? attest_prepare(prepared, &c, err) : status;
}

/* ---- order ------------------------------------------------------------------------------------------------ */
static attest_status order_point(attest_results *results, attest_subject *subject, const char *center,
                                 const char *range, int order, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_result result;
    char line[256];
    int supported = 0;
    attest_result_init(&result);
    snprintf(line, sizeof line, "variant=taylor:%d center=%s n=24 d=4 family=range:%s", order, center, range);
    ATTEST_TRY(prepare_line(&prepared, line, err));
    ATTEST_TRY(attest_run_case(&result, &supported, &prepared, subject, NULL, 30, err));
    if (!supported)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "taylor-direct-f32 refuses '%s': %s", line, result.why));
    const int64_t verdict = result.verdict;
    point(&result, "order", &prepared);
    if (verdict == ATTEST_ILLPOSED || verdict == ATTEST_FAIL || verdict == ATTEST_UNDECIDED)
        result.verdict = verdict; /* a point that is not a plain measurement says so */
    snprintf(result.series, sizeof result.series, "%s R=%s", center, range);
    result.abscissa = order;
    result.ordinate = result.truncation;
    ATTEST_TRY(attest_results_add(results, &result, err));
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status study_order(attest_results *results, const attest_cli *cli, attest_error *err)
{
    static const char *const ranges[] = { "0.5", "1", "2", "4", "8", "16" };
    attest_status status = ATTEST_OK;
    attest_subject subject = { .program = cli->options.program };
    ATTEST_TRY(attest_worker_start(&subject.worker, NULL, 30, err));
    while (subject.index < attest_worker_kernel_count(subject.worker) &&
           strcmp(attest_worker_kernel(subject.worker, subject.index)->name, "taylor-direct-f32") != 0)
        subject.index++;
    if (subject.index == attest_worker_kernel_count(subject.worker))
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "no built-in kernel taylor-direct-f32"));
    attest_library_hash(subject.file_hash, NULL);
    for (size_t c = 0; c < 4; c++)
        for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++)
            for (int order = 0; order <= 12; order++)
                ATTEST_TRY(order_point(results, &subject, centers[c], ranges[r], order, err));
out:
    attest_worker_free(subject.worker);
    return status;
}

/* ---- range ------------------------------------------------------------------------------------------------ */
/* One query, seven keys: generic scores, so the exponent p+1 is not raised by symmetry. */
static void range_line(char *line, size_t len, int order, const char *center, double scale)
{
    char text[32];
    attest_double_text(text, sizeof text, scale);
    snprintf(line, len, "variant=taylor:%d center=%s n=1 m=7 d=4 scale=%s family=normal seed=3", order, center, text);
}

/* The scale at which the row's range is about `target`: ranges are proportional to the scale. */
static attest_status scale_for(double *scale, double target, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_row_facts facts;
    char line[256];
    range_line(line, sizeof line, 1, "max", 1.0);
    ATTEST_TRY(prepare_line(&prepared, line, err));
    ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, (attest_row){ 0, 0, 0 }, err));
    *scale = target / facts.range_hi;
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status range_point(attest_results *results, const char *center, int order, double scale,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_row_facts facts;
    attest_result result;
    char line[256];
    double lo, hi;
    attest_result_init(&result);
    range_line(line, sizeof line, order, center, scale);
    ATTEST_TRY(prepare_line(&prepared, line, err));
    ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, (attest_row){ 0, 0, 0 }, err));
    ATTEST_TRY(attest_truth_weight_error(&lo, &hi, prepared.truth, prepared.exp_truth, (attest_row){ 0, 0, 0 }, err));
    point(&result, "range", &prepared);
    snprintf(result.series, sizeof result.series, "%s p=%d", center, order);
    result.range = facts.range_hi;
    result.abs_score = facts.abs_score;
    result.abscissa = strcmp(center, "zero") == 0 ? facts.abs_score : facts.range_hi;
    result.abs_lo = lo;
    result.abs_hi = hi;
    result.ordinate = hi;
    ATTEST_TRY(attest_results_add(results, &result, err));
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status study_range(attest_results *results, const attest_cli *cli, attest_error *err)
{
    (void)cli;
    attest_status status = ATTEST_OK;
    for (size_t c = 0; c < 4; c++)
        for (int order = 1; order <= 6; order++)
            for (double target = 0x1p-12; target <= 0x1p-6; target *= 2) {
                double scale;
                ATTEST_TRY(scale_for(&scale, target, err));
                ATTEST_TRY(range_point(results, centers[c], order, scale, err));
            }
out:
    return status;
}

/* ---- tables ----------------------------------------------------------------------------------------------- */
static attest_status print_order(const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .width = 14 },
        { .head = "range", .width = 10 },
        { .head = "order", .flags = ATTEST_COLUMN_RIGHT, .width = 5 },
        { .head = "truncation", .flags = ATTEST_COLUMN_RIGHT, .width = 12 },
        { .head = "rounding", .flags = ATTEST_COLUMN_RIGHT, .width = 12 },
        { .head = "verdict", .gap = 1 },
    };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_result r;
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&r, results, i, err));
        attest_table_cell(&table, "%s", r.series);
        attest_table_cell(&table, "%.4g", r.range);
        attest_table_cell(&table, "%.0f", r.abscissa);
        attest_table_cell(&table, "%.3e", r.truncation);
        attest_table_cell(&table, "%.3e", r.rounding);
        attest_table_cell(&table, "%s", attest_verdict_names[r.verdict]);
    }
    status = attest_table_end(&table, err);
out:
    return status;
}

#define LINE_POINTS 64

/* The points of one line, from `start` on; returns how many. */
static size_t line_of(attest_result *first, double *x, double *y, const attest_results *results, size_t start)
{
    attest_result r;
    attest_error err;
    size_t count = 0;
    while (start + count < results->count && count < LINE_POINTS &&
           attest_results_get(&r, results, start + count, &err) == ATTEST_OK &&
           (count == 0 || strcmp(r.series, first->series) == 0)) {
        if (count == 0)
            *first = r;
        x[count] = r.abscissa;
        y[count++] = r.ordinate;
    }
    return count;
}

static attest_status print_range(const attest_results *results, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "series", .width = 12 },
        { .head = "points", .flags = ATTEST_COLUMN_RIGHT, .width = 7 },
        { .head = "slope", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
        { .head = "p+1", .flags = ATTEST_COLUMN_RIGHT, .width = 8 },
        { .head = "off by", .flags = ATTEST_COLUMN_RIGHT, .width = 10 },
    };
    attest_status status = ATTEST_OK;
    double x[LINE_POINTS], y[LINE_POINTS];
    attest_table table;
    attest_result first;
    attest_table_begin(&table, stdout, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
    for (size_t start = 0, count; (count = line_of(&first, x, y, results, start)) > 0; start += count) {
        attest_fit fit;
        ATTEST_TRY(attest_fit_loglog(&fit, x, y, count, err));
        const double expected = atof(strchr(first.series, '=') + 1) + 1;
        attest_table_cell(&table, "%s", first.series);
        attest_table_count(&table, (int64_t)fit.points);
        attest_table_cell(&table, "%.5f", fit.slope);
        attest_table_cell(&table, "%.0f", expected);
        attest_table_cell(&table, "%+.5f", fit.slope - expected);
    }
    status = attest_table_end(&table, err);
out:
    return status;
}

typedef struct study {
    const char *name;
    attest_status (*measure)(attest_results *results, const attest_cli *cli, attest_error *err);
    attest_status (*print)(const attest_results *results, attest_error *err);
    attest_status (*chart)(const attest_results *results, const char *path, attest_error *err);
} study;

static const study studies[] = {
    { "order", study_order, print_order, attest_chart_order },
    { "range", study_range, print_range, attest_chart_range },
};

static attest_status write_files(const study *s, const attest_results *results, const char *dir, attest_error *err)
{
    const struct {
        const char *suffix;
        attest_status (*write)(const attest_results *, const char *, attest_error *);
    } files[] = { { "jsonl", attest_results_write_jsonl }, { "csv", attest_results_write_csv }, { "svg", s->chart } };
    attest_status status = ATTEST_OK;
    char path[4096];
    for (size_t i = 0; i < 3; i++) {
        if (snprintf(path, sizeof path, "%s/study-%s.%s", dir, s->name, files[i].suffix) >= (int)sizeof path)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
        ATTEST_TRY(files[i].write(results, path, err));
    }
out:
    return status;
}

int attest_command_study(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    const study *chosen = NULL;
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++)
        if (strcmp(studies[i].name, cli->argument[0]) == 0)
            chosen = &studies[i];
    if (!chosen)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "'%s': order or range (this version has no other study)",
                               cli->argument[0]));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(chosen->measure(&results, cli, &err));
    if (cli->out)
        ATTEST_TRY(write_files(chosen, &results, cli->out, &err));
    if (!cli->options.quiet)
        ATTEST_TRY(chosen->print(&results, &err));
out:
    attest_results_clear(&results);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

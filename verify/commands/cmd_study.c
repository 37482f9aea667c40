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

static void point(attest_row *row, const char *study, const attest_prepared *prepared)
{
    snprintf(row->suite, sizeof row->suite, "study-%s", study);
    snprintf(row->line, sizeof row->line, "%s", prepared->line);
    snprintf(row->hash, sizeof row->hash, "%016llx", (unsigned long long)prepared->hash);
    row->verdict = ATTEST_MEASURED;
}

static attest_status prepare_line(attest_prepared *prepared, const char *line, attest_error *err)
{
    attest_case c;
    const attest_status status = attest_case_parse(&c, line, NULL, NULL, err);
    return status == ATTEST_OK ? attest_prepare(prepared, &c, err) : status;
}

/* ---- order ------------------------------------------------------------------------------------------------ */
static attest_status order_point(attest_rows *rows, attest_subject *subject, const char *center, const char *range,
                                 int order, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_row row;
    char line[256];
    int supported = 0;
    attest_row_init(&row);
    snprintf(line, sizeof line, "variant=taylor:%d center=%s n=24 d=4 family=range:%s", order, center, range);
    ATTEST_TRY(prepare_line(&prepared, line, err));
    ATTEST_TRY(attest_run_case(&row, &supported, &prepared, subject, NULL, 30, err));
    if (!supported)
        ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "taylor-direct-f32 refuses '%s': %s", line, row.why));
    const int64_t verdict = row.verdict;
    point(&row, "order", &prepared);
    if (verdict == ATTEST_ILLPOSED || verdict == ATTEST_FAIL || verdict == ATTEST_UNDECIDED)
        row.verdict = verdict; /* a point that is not a plain measurement says so */
    snprintf(row.series, sizeof row.series, "%s R=%s", center, range);
    row.abscissa = order;
    row.ordinate = row.truncation;
    ATTEST_TRY(attest_rows_add(rows, &row, err));
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status study_order(attest_rows *rows, const attest_cli *cli, attest_error *err)
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
                ATTEST_TRY(order_point(rows, &subject, centers[c], ranges[r], order, err));
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
    ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, 0, 0, 0, err));
    *scale = target / facts.range_hi;
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status range_point(attest_rows *rows, const char *center, int order, double scale, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { 0 };
    attest_row_facts facts;
    attest_row row;
    char line[256];
    double lo, hi;
    attest_row_init(&row);
    range_line(line, sizeof line, order, center, scale);
    ATTEST_TRY(prepare_line(&prepared, line, err));
    ATTEST_TRY(attest_truth_facts(&facts, prepared.truth, 0, 0, 0, err));
    ATTEST_TRY(attest_truth_weight_error(&lo, &hi, prepared.truth, prepared.exp_truth, 0, 0, 0, err));
    point(&row, "range", &prepared);
    snprintf(row.series, sizeof row.series, "%s p=%d", center, order);
    row.range = facts.range_hi;
    row.abs_score = facts.abs_score;
    row.abscissa = strcmp(center, "zero") == 0 ? facts.abs_score : facts.range_hi;
    row.abs_lo = lo;
    row.abs_hi = hi;
    row.ordinate = hi;
    ATTEST_TRY(attest_rows_add(rows, &row, err));
out:
    attest_prepared_clear(&prepared);
    return status;
}

static attest_status study_range(attest_rows *rows, const attest_cli *cli, attest_error *err)
{
    (void)cli;
    attest_status status = ATTEST_OK;
    for (size_t c = 0; c < 4; c++)
        for (int order = 1; order <= 6; order++)
            for (double target = 0x1p-12; target <= 0x1p-6; target *= 2) {
                double scale;
                ATTEST_TRY(scale_for(&scale, target, err));
                ATTEST_TRY(range_point(rows, centers[c], order, scale, err));
            }
out:
    return status;
}

/* ---- tables ----------------------------------------------------------------------------------------------- */
static attest_status print_order(const attest_rows *rows, attest_error *err)
{
    (void)err;
    printf("%-14s %-10s %5s %12s %12s  %s\n", "series", "range", "order", "truncation", "rounding", "verdict");
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *r = &rows->row[i];
        printf("%-14s %-10.4g %5.0f %12.3e %12.3e  %s\n", r->series, r->range, r->abscissa, r->truncation, r->rounding,
               attest_verdict_names[r->verdict]);
    }
    return ATTEST_OK;
}

static attest_status print_range(const attest_rows *rows, attest_error *err)
{
    attest_status status = ATTEST_OK;
    double x[64], y[64];
    printf("%-12s %7s %10s %8s %10s\n", "series", "points", "slope", "p+1", "off by");
    for (size_t start = 0, end; start < rows->count; start = end) {
        const attest_row *first = &rows->row[start];
        attest_fit fit;
        for (end = start; end < rows->count && end - start < 64 && strcmp(rows->row[end].series, first->series) == 0;
             end++) {
            x[end - start] = rows->row[end].abscissa;
            y[end - start] = rows->row[end].ordinate;
        }
        ATTEST_TRY(attest_fit_loglog(&fit, x, y, end - start, err));
        const double expected = atof(strchr(first->series, '=') + 1) + 1;
        printf("%-12s %7zu %10.5f %8.0f %+10.5f\n", first->series, fit.points, fit.slope, expected,
               fit.slope - expected);
    }
out:
    return status;
}

typedef struct study {
    const char *name;
    attest_status (*measure)(attest_rows *rows, const attest_cli *cli, attest_error *err);
    attest_status (*print)(const attest_rows *rows, attest_error *err);
    attest_status (*chart)(const attest_rows *rows, const char *path, attest_error *err);
} study;

static const study studies[] = {
    { "order", study_order, print_order, attest_chart_order },
    { "range", study_range, print_range, attest_chart_range },
};

static attest_status write_files(const study *s, const attest_rows *rows, const char *dir, attest_error *err)
{
    const struct {
        const char *suffix;
        attest_status (*write)(const attest_rows *, const char *, attest_error *);
    } files[] = { { "jsonl", attest_rows_write_jsonl }, { "csv", attest_rows_write_csv }, { "svg", s->chart } };
    attest_status status = ATTEST_OK;
    char path[4096];
    for (size_t i = 0; i < 3; i++) {
        if (snprintf(path, sizeof path, "%s/study-%s.%s", dir, s->name, files[i].suffix) >= (int)sizeof path)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", dir);
        ATTEST_TRY(files[i].write(rows, path, err));
    }
out:
    return status;
}

int attest_command_study(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_rows rows = { 0 };
    const study *chosen = NULL;
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++)
        if (strcmp(studies[i].name, cli->argument[0]) == 0)
            chosen = &studies[i];
    if (!chosen)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "'%s': order or range (this version has no other study)",
                               cli->argument[0]));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(chosen->measure(&rows, cli, &err));
    if (cli->out)
        ATTEST_TRY(write_files(chosen, &rows, cli->out, &err));
    if (!cli->options.quiet)
        ATTEST_TRY(chosen->print(&rows, &err));
out:
    attest_rows_clear(&rows);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

/* study_write.c - what was measured, on the terminal and as files. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/study/study_part.h"

/* How far it came. */
static void print_extent(FILE *out, attest_table_format format, const attest_study_end *end)
{
    const int console = format == ATTEST_TABLE_CONSOLE;
    if (end->ended[0])
        fprintf(out, "%s: %zu of %zu points (%s)%s", console ? "unfinished" : "Unfinished", end->done, end->points,
                end->ended, console ? "\n" : ".\n\n");
    else if (!console && end->refused > 0)
        fprintf(out, "All %zu points; %zu of them are not served, the last because %s.\n\n", end->points, end->refused,
                end->why);
    else if (!console)
        fprintf(out, "All %zu points.\n\n", end->points);
}

attest_status attest_study_print(FILE *out, attest_table_format format, const attest_study *study,
                                 const attest_results *results, const attest_study_end *end, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_column columns[STUDY_COLUMNS];
    attest_table table;
    attest_result r;
    size_t count = 0;
    if (format != ATTEST_TABLE_CONSOLE)
        print_extent(out, format, end);
    for (; count < STUDY_COLUMNS && study->column[count].cell; count++)
        columns[count] = study->column[count].column;
    if (count > 0) {
        attest_table_begin(&table, out, format, columns, count);
        for (size_t i = 0; i < results->count; i++) {
            ATTEST_TRY(attest_results_get(&r, results, i, err));
            for (size_t c = 0; c < count; c++)
                study->column[c].cell(&table, &r);
        }
        ATTEST_TRY(attest_table_end(&table, err));
    }
    if (study->below)
        ATTEST_TRY(study->below(out, format, results, err));
    if (format == ATTEST_TABLE_CONSOLE)
        print_extent(out, format, end);
out:
    return status;
}

/* Which kernels ran, and on which types. */
static attest_status print_subjects(FILE *out, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char kernels[ATTEST_CHART_VALUES], types[ATTEST_CHART_VALUES];
    ATTEST_TRY(attest_chart_values(kernels, sizeof kernels, results, offsetof(attest_result, kernel), err));
    ATTEST_TRY(attest_chart_values(types, sizeof types, results, offsetof(attest_result, in), err));
    if (*kernels) {
        fputs("Kernels: ", out);
        attest_print_markdown(out, kernels);
        fputs(".  ", out);
    }
    if (*types)
        fprintf(out, "Inputs: %s.\n\n", types);
out:
    return status;
}

static attest_status write_markdown(const attest_study *study, const attest_results *results,
                                    const attest_study_end *end, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_output_open(&out, path, err));
    fprintf(out.file, "# attest study %s\n\n%s.  x: %s; y: %s; a series: %s.\n\n", study->name, study->sentence,
            study->abscissa, study->ordinate, study->series);
    ATTEST_TRY(print_subjects(out.file, results, err));
    status = attest_study_print(out.file, ATTEST_TABLE_ALIGNED, study, results, end, err);
out:
    return attest_output_close(&out, status, err);
}

/* A picture that cannot be drawn, or that nobody can draw here, costs nothing else. */
static attest_status draw(char missing[256], const attest_study *study, const attest_results *results, const char *path,
                          attest_error *err)
{
    const attest_status status = results->count > 0 ? study->chart(results, path, err) : ATTEST_IO;
    missing[0] = '\0';
    if (status != ATTEST_IO)
        return status;
    snprintf(missing, 256, "%.250s", results->count > 0 ? err->text : "there is no point");
    if (unlink(path) != 0 && errno != ENOENT)
        return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: %s", path, strerror(errno));
    return ATTEST_OK;
}

/* What was planned, and how far it came, as a run of the gate tells it. */
static attest_status write_run(const attest_study *study, const attest_results *results, const attest_study_end *end,
                               const char *path, attest_error *err)
{
    const int finished = !end->ended[0];
    attest_run_info run = { .cases = (int64_t)end->points,
                            .done = (int64_t)end->done,
                            .planned = (int64_t)end->points,
                            .results = (int64_t)results->count,
                            .refused = (int64_t)end->refused,
                            .complete = finished,
                            .finished = finished,
                            .lines = (int64_t)results->count };
    snprintf(run.tool, sizeof run.tool, "%s", ATTEST_VERSION);
    snprintf(run.suite, sizeof run.suite, "study-%s", study->name);
    snprintf(run.ended, sizeof run.ended, "%s", end->ended);
    return attest_run_info_write(&run, path, err);
}

attest_status attest_study_write(char missing[256], const attest_study *study, const attest_results *results,
                                 const attest_study_end *end, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[4096];
    missing[0] = '\0';
    ATTEST_TRY(study_path(path, dir, study, "jsonl", err));
    ATTEST_TRY(attest_results_write_jsonl(results, path, err));
    ATTEST_TRY(study_path(path, dir, study, "csv", err));
    ATTEST_TRY(attest_results_write_csv(results, path, err));
    ATTEST_TRY(study_path(path, dir, study, "md", err));
    ATTEST_TRY(write_markdown(study, results, end, path, err));
    ATTEST_TRY(study_path(path, dir, study, "run.json", err));
    ATTEST_TRY(write_run(study, results, end, path, err));
    ATTEST_TRY(study_path(path, dir, study, "svg", err));
    ATTEST_TRY(draw(missing, study, results, path, err));
    ATTEST_TRY(study_path(path, dir, study, "part", err));
    if (!end->ended[0])
        unlink(path);
out:
    return status;
}

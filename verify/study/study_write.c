/* study_write.c - what was measured, on the terminal and as files. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/study/study_part.h"

attest_status attest_study_print(FILE *out, attest_table_format format, const attest_study *study,
                                 const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_column columns[STUDY_COLUMNS];
    attest_table table;
    attest_result r;
    size_t count = 0;
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
    if (end->ended[0])
        fprintf(out.file, "Unfinished: %zu of %zu points (%s).\n\n", end->done, end->points, end->ended);
    status = attest_study_print(out.file, ATTEST_TABLE_ALIGNED, study, results, err);
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
    ATTEST_TRY(study_path(path, dir, study, "svg", err));
    ATTEST_TRY(draw(missing, study, results, path, err));
    ATTEST_TRY(study_path(path, dir, study, "part", err));
    if (!end->ended[0])
        unlink(path);
out:
    return status;
}

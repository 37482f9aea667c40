/* summary.c - Markdown for a CI job's summary: totals, then at most 60 rows, those that need attention first. */
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

#define SUMMARY_ROWS 60

static void print_totals(FILE *out, const attest_rows *rows)
{
    size_t by_verdict[ATTEST_VERDICT_COUNT] = { 0 };
    for (size_t i = 0; i < rows->count; i++)
        by_verdict[rows->row[i].verdict]++;
    fprintf(out, "# attest: %zu rows\n\n", rows->count);
    for (int v = 0; v < ATTEST_VERDICT_COUNT; v++)
        if (by_verdict[v])
            fprintf(out, "- %s: %zu\n", attest_verdict_names[v], by_verdict[v]);
}

static void print_tallies(FILE *out, const attest_tally *tallies, size_t count)
{
    fprintf(out, "\n| kernel | cases | pass | fail | undecided | mistrusted | illposed | crash or timeout | skip | "
                 "worst ratio | "
                 "worst ulp |\n"
                 "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < count; i++) {
        const attest_tally *t = &tallies[i];
        fprintf(out, "| ");
        attest_print_cell(out, t->kernel);
        fprintf(out, " | %zu | %zu | %zu | %zu | %zu | %zu | %zu | %zu |", t->cases, t->by_verdict[ATTEST_PASS],
                t->by_verdict[ATTEST_FAIL], t->by_verdict[ATTEST_UNDECIDED], t->by_verdict[ATTEST_MISTRUSTED],
                t->by_verdict[ATTEST_ILLPOSED], t->by_verdict[ATTEST_CRASH] + t->by_verdict[ATTEST_TIMEOUT],
                t->by_verdict[ATTEST_SKIP]);
        if (t->worst_ratio < 0)
            fprintf(out, " - | - |\n");
        else
            fprintf(out, " %.3g | %.3g |\n", t->worst_ratio, t->worst_ulp);
    }
}

static void print_row(FILE *out, const attest_row *row)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    fprintf(out, "| %s | ", attest_verdict_names[row->verdict]);
    attest_print_cell(out, row->kernel);
    fprintf(out, " | ");
    attest_print_cell(out, row->line);
    fprintf(out, " | %.3g | %.3g | %s ", row->ratio_hi, row->ulp_hi, reasons);
    attest_print_cell(out, row->why);
    fprintf(out, attest_row_bad(row) ? " | `" : " | ");
    attest_print_cell(out, attest_row_bad(row) ? row->reproduction : "-");
    fprintf(out, attest_row_bad(row) ? "` |\n" : " |\n");
}

attest_status attest_rows_write_summary(const attest_rows *rows, const attest_facts *facts, const char *path,
                                        attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_tally *tallies = NULL;
    size_t count = 0, shown = 0;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_tally_rows(&tallies, &count, rows, err));
    ATTEST_TRY(attest_output_open(&out, path, err));
    print_totals(out.file, rows);
    print_tallies(out.file, tallies, count);
    ATTEST_TRY(attest_classes_print(out.file, rows, 0, err));
    ATTEST_TRY(attest_signs_print(out.file, rows, 0, err));
    ATTEST_TRY(attest_warnings_print(out.file, rows, 0, err));
    if (facts)
        attest_facts_print(out.file, facts, rows, 0);
    fprintf(out.file,
            "\n| verdict | kernel | problem | ratio | ulp | why | reproduce |\n|---|---|---|---:|---:|---|---|\n");
    for (int rank = 0; rank < ATTEST_RANKS; rank++)
        for (size_t i = 0; i < rows->count && shown < SUMMARY_ROWS; i++)
            if (attest_row_rank(&rows->row[i]) == rank) {
                print_row(out.file, &rows->row[i]);
                shown++;
            }
    if (rows->count > shown)
        fprintf(out.file, "\nand %zu more rows in rows.jsonl and rows.csv\n", rows->count - shown);
out:
    free(tallies);
    return attest_output_close(&out, status, err);
}

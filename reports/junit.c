/* junit.c - JUnit XML: a testsuite a kernel, a testcase a row. */
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

static void print_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    attest_print_xml(out, value);
    fputc('"', out);
}

/* pass, illposed, measured: nothing; skip: <skipped>; fail, mistrusted, undecided: <failure>; else <error>. */
static void print_outcome(FILE *out, const attest_row *row)
{
    char reasons[256];
    const char *element = row->verdict == ATTEST_SKIP                                      ? "skipped"
                          : row->verdict == ATTEST_CRASH || row->verdict == ATTEST_TIMEOUT ? "error"
                                                                                           : "failure";
    if (row->verdict != ATTEST_SKIP && !attest_row_bad(row))
        return;
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    fprintf(out, "      <%s", element);
    print_attribute(out, "message", row->why[0] ? row->why : reasons[0] ? reasons : attest_verdict_names[row->verdict]);
    if (row->verdict != ATTEST_SKIP)
        print_attribute(out, "type", attest_verdict_names[row->verdict]);
    fprintf(out, ">");
    if (row->worst[0]) {
        fprintf(out, "worst ");
        attest_print_xml(out, row->worst);
        fprintf(out, ": got ");
        attest_print_xml(out, row->got);
        fprintf(out, ", truth ");
        attest_print_xml(out, row->truth);
        fprintf(out, ", ratio %.6g", row->ratio_hi);
    }
    fprintf(out, "</%s>\n      <system-out>", element);
    attest_print_xml(out, row->reproduction);
    fprintf(out, "</system-out>\n");
}

static void print_case(FILE *out, const attest_row *row)
{
    fprintf(out, "    <testcase");
    print_attribute(out, "classname", row->kernel);
    print_attribute(out, "name", row->line[0] ? row->line : "(whole kernel)");
    fprintf(out, " time=\"%.6f\">\n", row->seconds_kernel == row->seconds_kernel ? row->seconds_kernel : 0.0);
    print_outcome(out, row);
    fprintf(out, "    </testcase>\n");
}

static void print_suite(FILE *out, const attest_rows *rows, const attest_tally *t)
{
    const size_t errors = t->by_verdict[ATTEST_CRASH] + t->by_verdict[ATTEST_TIMEOUT];
    const size_t failures =
        t->by_verdict[ATTEST_FAIL] + t->by_verdict[ATTEST_UNDECIDED] + t->by_verdict[ATTEST_MISTRUSTED];
    fprintf(out, "  <testsuite");
    print_attribute(out, "name", t->kernel);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", t->cases, failures, errors,
            t->by_verdict[ATTEST_SKIP]);
    for (size_t i = 0; i < rows->count; i++)
        if (strcmp(rows->row[i].kernel, t->kernel) == 0)
            print_case(out, &rows->row[i]);
    fprintf(out, "  </testsuite>\n");
}

attest_status attest_rows_write_junit(const attest_rows *rows, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_tally *tallies = NULL;
    size_t count = 0;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_tally_rows(&tallies, &count, rows, err));
    ATTEST_TRY(attest_output_open(&out, path, err));
    fprintf(out.file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"attest\" tests=\"%zu\">\n",
            rows->count);
    for (size_t i = 0; i < count; i++)
        print_suite(out.file, rows, &tallies[i]);
    fprintf(out.file, "</testsuites>\n");
out:
    free(tallies);
    return attest_output_close(&out, status, err);
}

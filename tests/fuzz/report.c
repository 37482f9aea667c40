/* report.c - the page, the summary, JUnit, CSV and the console's table of any results that are read. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/ci/ci.h"
#include "reports/page/page.h"

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = { "results.jsonl", "results.csv", "junit.xml", "summary.md", "index.html" };
    char path[128];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

/* DIR/NAME, in memory where the machine has such a folder. */
static const char *path_of(const char *name)
{
    static char path[128];
    if (!*folder) {
        snprintf(folder, sizeof folder, "%s/fuzz-report-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
        FUZZ_CHECK(mkdtemp(folder));
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void check(attest_status status, const attest_error *err)
{
    if (status != ATTEST_OK)
        fuzz_refused(status, err);
}

/* What a page shows of outside text is data: none of it opens an element that the page has not. */
static void check_page(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *in = fopen(path_of("index.html"), "r");
    FUZZ_CHECK(in);
    while (getline(&text, &size, in) > 0)
        FUZZ_CHECK(!strcasestr(text, "<script"));
    free(text);
    fclose(in);
}

static int take(const uint8_t *data, size_t size)
{
    attest_results results;
    attest_error err;
    FILE *out = fopen(path_of("results.jsonl"), "w");
    FUZZ_CHECK(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
    const attest_status status = attest_report_write(folder, &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    check_page();
    FUZZ_CHECK(attest_results_open(&results, path_of("results.jsonl"), &err) == ATTEST_OK);
    check(attest_ci_write_junit(&results, path_of("junit.xml"), &err), &err);
    check(attest_results_write_csv(&results, path_of("results.csv"), &err), &err);
    FILE *console = fopen("/dev/null", "w");
    FUZZ_CHECK(console);
    attest_results_print_console(console, &results, NULL, NULL, 1);
    fclose(console);
    attest_results_clear(&results);
    return 1;
}

extern const fuzz_reader fuzz_report;
const fuzz_reader fuzz_report = { "report", take, fuzz_results_mutate };

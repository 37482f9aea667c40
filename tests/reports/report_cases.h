/* report_cases.h - for the suites of reports/: a folder of their own, files as text, results with every field set. */
#ifndef ATTEST_TESTS_REPORT_CASES_H
#define ATTEST_TESTS_REPORT_CASES_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/overview.h"
#include "reports/page/page.h"

static char folder[] = "/tmp/attest-reports-XXXXXX";

static inline void setup(void) { ck_assert_ptr_nonnull(mkdtemp(folder)); }

static inline void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static inline char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* The whole file as text (static buffer). */
static inline const char *text_of(const char *name)
{
    static char text[1 << 20];
    FILE *in = fopen(path_of(name), "r");
    ck_assert_msg(in != NULL, "%s is missing", name);
    const size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = '\0';
    return text;
}

static inline size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + strlen(what), what))
        n++;
    return n;
}

/* A result whose every field is set, differently for each i. */
static inline attest_result sample(int i)
{
    attest_result result;
    attest_result_init(&result);
    for (size_t f = 0; f < attest_result_field_count; f++) {
        const attest_field *field = &attest_result_fields[f];
        char *at = (char *)&result + field->offset;
        const double x = ldexp(1.0 + (double)f / 64, i - 3) * (f % 2 ? 1 : -1);
        const int64_t n = (int64_t)f * 7 + i;
        if (field->type == ATTEST_FIELD_TEXT)
            snprintf(at, field->size, "<%zu,\"%d\" | & '%s'>", f, i, field->name);
        else if (field->type == ATTEST_FIELD_REAL)
            memcpy(at, &x, sizeof x);
        else if (field->type == ATTEST_FIELD_INT)
            memcpy(at, &n, sizeof n);
    }
    result.schema = ATTEST_RESULT_SCHEMA;
    result.verdict = i % ATTEST_VERDICT_COUNT;
    result.reasons = (int64_t)i * 2654435761 & ((1 << ATTEST_REASON_COUNT) - 1);
    snprintf(result.kernel, sizeof result.kernel, "kernel-%d", i % 3);
    return result;
}

/* The results as a list. */
static inline attest_results list_of(const attest_result *given, size_t count)
{
    attest_results results = { 0 };
    attest_error err;
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(attest_results_add(&results, &given[i], &err), ATTEST_OK);
    return results;
}

static inline attest_results samples(int count)
{
    attest_results results = { 0 };
    attest_error err;
    for (int i = 0; i < count; i++) {
        const attest_result result = sample(i);
        ck_assert_int_eq(attest_results_add(&results, &result, &err), ATTEST_OK);
    }
    return results;
}

static inline attest_result result_at(const attest_results *results, size_t i)
{
    attest_result result;
    attest_error err = { "" };
    ck_assert_msg(attest_results_get(&result, results, i, &err) == ATTEST_OK, "%s", err.text);
    return result;
}

static inline void put(attest_results *results, size_t i, const attest_result *result)
{
    attest_error err;
    ck_assert_int_eq(attest_results_replace(results, i, result, &err), ATTEST_OK);
}

static inline attest_overview overview_of(const attest_results *results)
{
    attest_overview o;
    attest_error err = { "" };
    ck_assert_msg(attest_overview_of(&o, results, &err) == ATTEST_OK, "%s", err.text);
    return o;
}

#endif

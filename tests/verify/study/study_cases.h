/* study_cases.h - for the tests of verify/study: a folder, the command, and what it left there. */
#ifndef STUDY_CASES_H
#define STUDY_CASES_H

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/charts/charts.h"

static char folder[] = "/tmp/attest-study-XXXXXX";

static inline void study_setup(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1);
}

static inline void study_teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* The exit code of `attest study ARGUMENTS`, its words in FOLDER/out and FOLDER/err. */
static inline int study_command(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command, "%s/attest study %s >%s/out 2>%s/err", ATTEST_TEST_BUILD, arguments, folder,
             folder);
    const int code = system(command);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

/* The text of FOLDER/NAME, "" where there is none; freed by nobody before the next. */
static inline const char *study_text_of(const char *name)
{
    static char text[1 << 20];
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    const size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = '\0';
    if (in)
        fclose(in);
    return text;
}

static inline int study_is_there(const char *name)
{
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static inline attest_result result_at(const attest_results *results, size_t i)
{
    attest_result result;
    attest_error err = { "" };
    ck_assert_msg(attest_results_get(&result, results, i, &err) == ATTEST_OK, "%s", err.text);
    return result;
}

static inline attest_results results_of(const char *name)
{
    attest_results results = { 0 };
    attest_error err = { "" };
    char path[640];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(attest_results_open(&results, path, &err) == ATTEST_OK, "%s", err.text);
    return results;
}

/* Runs `attest study NAME OPTIONS --quiet --out FOLDER`, which must succeed, and opens its results. */
static inline attest_results study_of(const char *name, const char *options)
{
    char text[512];
    snprintf(text, sizeof text, "%s %s --quiet --out %s", name, options, folder);
    const int code = study_command(text);
    ck_assert_msg(code == 0, "study %s: exit code %d: %s", text, code, study_text_of("err"));
    snprintf(text, sizeof text, "study-%s.svg", name);
    ck_assert_msg(strstr(study_text_of(text), "<svg"), "%s is no picture", text);
    snprintf(text, sizeof text, "study-%s.md", name);
    ck_assert_msg(strstr(study_text_of(text), "| "), "%s has no table", text);
    snprintf(text, sizeof text, "study-%s.part", name);
    ck_assert_msg(!study_is_there(text), "%s stays", text);
    snprintf(text, sizeof text, "study-%s.jsonl", name);
    return results_of(text);
}

#endif

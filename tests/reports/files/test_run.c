/* test_run.c - run.json: what is written is read back, a file that is none is refused by one line that says why, and
 * the banner tells an unfinished run from a finished one. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/files/run.h"

Suite *suite_run(void);

static char folder[] = ATTEST_TEST_BUILD "/run-XXXXXX";
static char path[512];

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.json", folder);
}

static void teardown(void)
{
    unlink(path);
    rmdir(folder);
}

static attest_run_info example(void)
{
    attest_run_info info = { .cases = 12, .done = 3, .planned = 36, .results = 8, .refused = 1, .complete = 0 };
    memset(info.options, 'o', sizeof info.options - 1); /* as long as it may be */
    strcpy(info.tool, "attest 1");
    strcpy(info.run, "2026-01-02T03:04:05Z");
    strcpy(info.suite, "ci");
    strcpy(info.suite_hash, "0123456789abcdef");
    strcpy(info.cases_hash, "\"\\/\t");
    strcpy(info.ended, "SIGINT");
    strcpy(info.fail_on, "skip");
    return info;
}

START_TEST(what_is_written_is_read)
{
    const attest_run_info wrote = example();
    attest_run_info read;
    attest_error err = { "" };
    ck_assert_msg(attest_run_info_write(&wrote, path, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_run_info_read(&read, path, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(read.tool, wrote.tool);
    ck_assert_str_eq(read.run, wrote.run);
    ck_assert_str_eq(read.suite, wrote.suite);
    ck_assert_str_eq(read.suite_hash, wrote.suite_hash);
    ck_assert_str_eq(read.cases_hash, "\"\\/\\x09"); /* a control character comes back as text */
    ck_assert_str_eq(read.kernels_hash, "");
    ck_assert_str_eq(read.options, wrote.options);
    ck_assert_str_eq(read.ended, wrote.ended);
    ck_assert_str_eq(read.fail_on, "skip");
    ck_assert_int_eq(read.cases, 12);
    ck_assert_int_eq(read.done, 3);
    ck_assert_int_eq(read.planned, 36);
    ck_assert_int_eq(read.results, 8);
    ck_assert_int_eq(read.refused, 1);
    ck_assert(!read.complete && !read.finished);
}
END_TEST

/* The file of the example with `was` replaced by `is`; the message of its reading. */
static void refused(const char *was, const char *is, const char *says)
{
    char text[4096] = "";
    const attest_run_info info = example();
    attest_run_info read;
    attest_error err = { "" };
    ck_assert_int_eq(attest_run_info_write(&info, path, &err), ATTEST_OK);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, was);
    ck_assert_msg(at != NULL, "no %s in %s", was, text);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
    fclose(file);
    ck_assert_int_eq(attest_run_info_read(&read, path, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, path) && strstr(err.text, says) && !strchr(err.text, '\n'), "%s", err.text);
}

START_TEST(what_is_none_is_refused)
{
    static const char long_date[] = "\"2026-01-02T03:04:05Z-and-more-than-fits\"";
    refused("\"done\"", "\"doen\"", "'done'");
    refused("\"cases\": 12", "\"cases\": \"12\"", "'cases'");
    refused("\"cases\": 12", "\"cases\": 12.5", "'cases'");
    refused("\"ci\"", "7", "'suite'");
    refused("\"ci\"", "null", "'suite'");
    refused("\"2026-01-02T03:04:05Z\"", long_date, "'run'");
    refused("{", "[", "");
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
    attest_run_info read;
    attest_error err = { "" };
    unlink(path);
    ck_assert_int_eq(attest_run_info_read(&read, path, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
}
END_TEST

/* A folder that is not there: nothing is written, and nothing is left. */
START_TEST(a_folder_that_is_not_there)
{
    const attest_run_info info = example();
    attest_error err = { "" };
    char nowhere[600];
    snprintf(nowhere, sizeof nowhere, "%s/none/run.json", folder);
    ck_assert_int_ne(attest_run_info_write(&info, nowhere, &err), ATTEST_OK);
    ck_assert_msg(strstr(err.text, nowhere) != NULL, "%s", err.text);
}
END_TEST

static const struct {
    const char *ended;
    int64_t cases, done, finished;
    size_t seen;
    const char *says;
} banners[] = {
    { "SIGINT", 12, 3, 0, 0, "unfinished: 3 of 12 cases (SIGINT)" },
    { "SIGINT", 12, 3, 0, 4, "unfinished: 3 of 12 cases (SIGINT)" }, /* one had begun */
    { "SIGINT", 12, 12, 0, 12, "unfinished: all 12 cases, but not all that follows (SIGINT)" },
    { "", 12, 0, 0, 5, "unfinished: 5 of 12 cases (killed)" }, /* its own count was never written */
    { "", 12, 7, 0, 5, "unfinished: 7 of 12 cases (killed)" },
    { "", 1, 0, 0, 0, "unfinished: 0 of 1 case (killed)" },
    { "", 12, 12, 0, 12, "unfinished: 12 of 12 cases (its files were not written)" },
    { "", 12, 12, 1, 12, "" },
};

/* A run that another process still writes, whatever it said of itself before. */
START_TEST(the_banner_of_a_running_run)
{
    attest_run_info info = { .cases = 12, .running = 1 };
    char text[128];
    attest_run_info_banner(text, sizeof text, &info, 12);
    ck_assert_str_eq(text, "unfinished: results of 12 of 12 cases (it still ran when this was written)");
}
END_TEST

START_TEST(the_banner)
{
    attest_run_info info = { .cases = banners[_i].cases, .done = banners[_i].done, .finished = banners[_i].finished };
    char text[128] = "before";
    strcpy(info.ended, banners[_i].ended);
    attest_run_info_banner(text, sizeof text, &info, banners[_i].seen);
    ck_assert_str_eq(text, banners[_i].says);
}
END_TEST

Suite *suite_run(void)
{
    Suite *suite = suite_create("run");
    TCase *files = tcase_create("files"), *words = tcase_create("words");
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_add_test(files, what_is_written_is_read);
    tcase_add_test(files, what_is_none_is_refused);
    tcase_add_test(files, a_file_that_is_not_there);
    tcase_add_test(files, a_folder_that_is_not_there);
    tcase_add_test(words, the_banner_of_a_running_run);
    tcase_add_loop_test(words, the_banner, 0, (int)(sizeof banners / sizeof banners[0]));
    suite_add_tcase(suite, files);
    suite_add_tcase(suite, words);
    return suite;
}

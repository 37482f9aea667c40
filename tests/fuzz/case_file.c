/* case_file.c - case files: a problem with the values of its tensors. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/case_file/case_file.h"

/* A problem line that a small machine can hold: what is allocated is not what is tested here. */
static int is_small(const char *text)
{
    attest_error err;
    attest_case c;
    uint64_t bytes;
    char line[ATTEST_LINE];
    int lowest, highest;
    for (const char *at = text; (at = strstr(at, "problem=")); at++) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 8, "\n"), at + 8);
        if (attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK &&
            (attest_problem_memory(&c.problem, &bytes, &err) != ATTEST_OK || bytes > 1 << 16 ||
             (attest_variant_degrees(c.problem.axis, &lowest, &highest) && highest > 4)))
            return 0;
    }
    return 1;
}

static void check_again(const attest_case_file *file)
{
    attest_case_file again;
    attest_error err;
    static char path[64];
    if (!*path)
        snprintf(path, sizeof path, "/tmp/fuzz-case-%ld", (long)getpid());
    if (attest_case_file_write(file, path, "fuzz", &err) != ATTEST_OK)
        return;
    const attest_status status = attest_case_file_read(&again, path, &err);
    unlink(path);
    if (status != ATTEST_OK)
        fuzz_fail(err.text, __FILE__, __LINE__);
    FUZZ_CHECK(again.evaluations == file->evaluations && again.seed == file->seed);
    FUZZ_CHECK(strcmp(again.kernel, file->kernel) == 0);
    attest_case_file_clear(&again);
}

static int take(const uint8_t *data, size_t size)
{
    attest_case_file file;
    attest_error err;
    char *text = fuzz_text(data, size);
    const int small = is_small(text);
    free(text);
    if (!small)
        return 0;
    const char *path = fuzz_file(data, size);
    const int is = attest_is_case_file(path);
    const attest_status status = attest_case_file_read(&file, path, &err);
    if (status != ATTEST_OK) {
        FUZZ_CHECK(file.inputs == NULL);
        return fuzz_refused(status, &err);
    }
    FUZZ_CHECK(is);
    check_again(&file);
    attest_case_file_clear(&file);
    return 1;
}

extern const fuzz_reader fuzz_case_file;
const fuzz_reader fuzz_case_file = { "case_file", take, NULL };

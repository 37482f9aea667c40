/* finding.c - what a finding is called, and which it is. */
#include <stdio.h>
#include <string.h>

#include "kernels/hash.h"
#include "reports/ci/ci.h"

const char *attest_ci_rule(const attest_result *result)
{
    if (attest_result_unfinished(result))
        return ATTEST_CI_UNFINISHED;
    for (int r = 0; r < ATTEST_REASON_COUNT && result->verdict == ATTEST_FAIL; r++)
        if (result->reasons >> r & 1)
            return attest_reason_names[r];
    return attest_verdict_names[result->verdict];
}

int attest_ci_is_error(const attest_result *result)
{
    return attest_result_failed(result) || attest_result_unfinished(result);
}

void attest_ci_case(char *text, size_t len, const attest_result *result)
{
    const int named = result->verdict == ATTEST_FAIL ? (int)strcspn(result->why, ":") : 0;
    if (*result->problem)
        snprintf(text, len, "%s", result->problem);
    else if (strcmp(result->kernel, ATTEST_RESULT_RUN) == 0)
        snprintf(text, len, "(the run)");
    else
        snprintf(text, len, "(whole kernel)%s%.*s", named ? " " : "", named, result->why);
}

void attest_ci_place(char *path, size_t len, const attest_result *result)
{
    const char *kernel = result->kernel, *colon = strrchr(kernel, ':');
    const int program = strncmp(kernel, "exec:", 5) == 0;
    if (*result->file)
        snprintf(path, len, "%s", result->file);
    else if (!program && (colon || strchr(kernel, '.')))
        snprintf(path, len, "%.*s", (int)(colon ? (size_t)(colon - kernel) : strlen(kernel)), kernel);
    else
        snprintf(path, len, "%s%s", result->suite, *result->suite ? ".suite" : "");
}

void attest_ci_fingerprint(char text[20], const attest_result *result)
{
    const char *rule = attest_ci_rule(result);
    char name[sizeof result->problem + sizeof result->why];
    attest_ci_case(name, sizeof name, result);
    uint64_t hash = attest_fnv(ATTEST_FNV_START, result->kernel, strlen(result->kernel) + 1);
    hash = attest_fnv(hash, name, strlen(name) + 1);
    hash = attest_fnv(hash, rule, strlen(rule) + 1);
    snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

/* finding.c - what a finding is called, and which it is. */
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

const char *attest_ci_case(const attest_result *result)
{
    return *result->problem ? result->problem : attest_result_unfinished(result) ? "(the run)" : "(whole kernel)";
}

void attest_ci_fingerprint(char text[20], const attest_result *result)
{
    const char *rule = attest_ci_rule(result);
    uint64_t hash = attest_fnv(ATTEST_FNV_START, result->kernel, strlen(result->kernel) + 1);
    hash = attest_fnv(hash, result->problem, strlen(result->problem) + 1);
    hash = attest_fnv(hash, rule, strlen(rule) + 1);
    snprintf(text, 20, "%016llx", (unsigned long long)hash);
}

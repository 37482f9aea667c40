/* quality.c - GitLab's code quality report: a JSON array of what needs attention. */
#include "reports/ci/ci.h"

static json_t *finding(const attest_result *result)
{
    char fingerprint[20], text[4096], place[ATTEST_CI_PLACE];
    const char *severity = result->verdict == ATTEST_FAIL      ? "critical"
                           : attest_ci_is_error(result)        ? "blocker"
                           : result->verdict == ATTEST_PARTIAL ? "minor"
                                                               : "major";
    snprintf(text, sizeof text, "%s: %s%s%s%s%s", result->kernel, attest_verdict_names[result->verdict],
             *result->problem ? " on " : "", result->problem, *result->why ? ": " : "", result->why);
    attest_ci_fingerprint(fingerprint, result);
    attest_ci_place(place, sizeof place, result);
    return json_pack("{s:o, s:s, s:s, s:s, s:{s:o, s:{s:i}}}", "description", attest_json_text(text), "check_name",
                     attest_ci_rule(result), "fingerprint", fingerprint, "severity", severity, "location", "path",
                     attest_json_text(*place ? place : result->kernel), "lines", "begin", 1);
}

attest_status attest_ci_write_quality(const attest_results *results, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_output out = { .file = NULL };
    attest_result result;
    json_t *list = json_array();
    int rank;
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_rank(&rank, results, i, err));
        if (rank >= ATTEST_RANKS_BAD)
            continue;
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        json_array_append_new(list, finding(&result));
    }
    ATTEST_TRY(attest_output_open(&out, path, err));
    status = attest_json_pretty(out.file, list);
    list = NULL;
    if (status != ATTEST_OK)
        status = attest_print_failed(err, path);
out:
    json_decref(list);
    return attest_output_close(&out, status, err);
}

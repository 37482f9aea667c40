/* sarif.c - SARIF 2.1.0 (OASIS, 2020): what needs attention, for code scanning. */
#include <string.h>

#include "reports/ci/ci.h"

/* Every rule that can be, so that its number is the same in each run: reasons of failures, verdicts, the run itself. */
enum { VERDICTS = ATTEST_REASON_COUNT, RUN = VERDICTS + ATTEST_VERDICT_COUNT, RULES };

static const char *rule_name(size_t rule)
{
    if (rule == RUN)
        return ATTEST_CI_UNFINISHED;
    return rule < ATTEST_REASON_COUNT ? attest_reason_names[rule] : attest_verdict_names[rule - VERDICTS];
}

static size_t rule_of(const attest_result *result)
{
    size_t rule = 0;
    while (rule + 1 < RULES && strcmp(rule_name(rule), attest_ci_rule(result)) != 0)
        rule++;
    return rule;
}

static json_t *rules(void)
{
    json_t *list = json_array();
    for (size_t r = 0; r < RULES; r++) {
        char id[80], words[160];
        snprintf(id, sizeof id, "attest/%.60s", rule_name(r));
        snprintf(words, sizeof words,
                 r < VERDICTS ? "A kernel failed: %.60s"
                 : r == RUN   ? "The run is %.60s: cases are left that nobody has judged"
                              : "The verdict is %.60s",
                 rule_name(r));
        json_array_append_new(list, json_pack("{s:s, s:{s:s}}", "id", id, "shortDescription", "text", words));
    }
    return list;
}

/* A path as a URI: what RFC 3986 does not allow in a relative one is percent-encoded; from the root: `file://`. */
static void print_uri(char *uri, size_t len, const char *path)
{
    size_t n = (size_t)snprintf(uri, len, *path == '/' ? "file://" : "");
    path += strncmp(path, "./", 2) == 0 ? 2 : 0;
    for (const char *c = path; *c && n + 4 < len; c++)
        n += (size_t)snprintf(uri + n, len - n,
                              strchr("!$&'()*+,-./;=@_~", *c) || (*c >= '0' && *c <= '9') ||
                                      ((*c | 32) >= 'a' && (*c | 32) <= 'z')
                                  ? "%c"
                                  : "%%%02X",
                              (unsigned char)*c);
}

/* NULL: it has none.  Readers take no place without a file: GitHub refuses all of the report for it. */
static json_t *locations(const attest_result *result)
{
    char path[ATTEST_CI_PLACE], uri[3 * sizeof path + 16];
    attest_ci_place(path, sizeof path, result);
    if (!*path)
        return NULL;
    print_uri(uri, sizeof uri, path);
    return json_pack("[{s:{s:{s:s}, s:{s:i}}, s:[{s:o}]}]", "physicalLocation", "artifactLocation", "uri", uri,
                     "region", "startLine", 1, "logicalLocations", "fullyQualifiedName",
                     attest_json_text(result->kernel));
}

static json_t *finding(const attest_result *result)
{
    char id[80], fingerprint[20], text[4096];
    snprintf(id, sizeof id, "attest/%.60s", attest_ci_rule(result));
    snprintf(text, sizeof text, "%s: %s%s%s%s%s%s%.700s", result->kernel, attest_verdict_names[result->verdict],
             *result->problem ? " on " : "", result->problem, *result->why ? ": " : "", result->why,
             *result->reproduction ? "\nreproduce: " : "", result->reproduction);
    attest_ci_fingerprint(fingerprint, result);
    json_t *object = json_pack("{s:s, s:i, s:s, s:{s:o}, s:o*, s:{s:s}}", "ruleId", id, "ruleIndex",
                               (int)rule_of(result), "level", attest_ci_is_error(result) ? "error" : "warning",
                               "message", "text", attest_json_text(text), "locations", locations(result),
                               "partialFingerprints", "attest/v1", fingerprint);
    json_object_set_new(object, "properties",
                        json_pack("{s:o, s:o}", "ratio", attest_json_pair(result->ratio_lo, result->ratio_hi), "ulp",
                                  attest_json_pair(result->ulp_lo, result->ulp_hi)));
    return object;
}

static json_t *document(json_t *list, size_t left)
{
    json_t *driver = json_pack("{s:s, s:s, s:o}", "name", "attest", "version", ATTEST_VERSION, "rules", rules());
    json_t *run = json_pack("{s:{s:o}, s:o, s:{s:I}}", "tool", "driver", driver, "results", list, "properties",
                            "resultsLeftOut", (json_int_t)left);
    return json_pack("{s:s, s:s, s:[o]}", "$schema", "https://json.schemastore.org/sarif-2.1.0.json", "version",
                     "2.1.0", "runs", run);
}

attest_status attest_ci_write_sarif(const attest_results *results, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_output out = { .file = NULL };
    attest_result result;
    json_t *list = json_array();
    size_t left = 0;
    int of;
    for (int rank = 0; rank < ATTEST_RANKS_BAD; rank++)
        for (size_t i = 0; i < results->count; i++) {
            ATTEST_TRY(attest_results_rank(&of, results, i, err));
            if (of != rank)
                continue;
            if (json_array_size(list) >= ATTEST_SARIF_MOST) {
                left++;
                continue;
            }
            ATTEST_TRY(attest_results_get(&result, results, i, err));
            json_array_append_new(list, finding(&result));
        }
    ATTEST_TRY(attest_output_open(&out, path, err));
    status = attest_json_pretty(out.file, document(list, left));
    list = NULL;
    if (status != ATTEST_OK)
        status = attest_print_failed(err, path);
out:
    json_decref(list);
    return attest_output_close(&out, status, err);
}

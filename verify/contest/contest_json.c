/* contest_json.c - a judgement as JSON and as text: counts and kinds, nothing of any case. */
#include <inttypes.h>
#include <jansson.h>

#include "reports/files/json.h"
#include "verify/base/base.h"
#include "verify/contest/contest.h"

static const char *const findings[ATTEST_CONTEST_FINDINGS] = { "crash", "timeout", "imprecise",
                                                               "sizes", "clock",   "processes" };

int attest_judgement_exit(const attest_judgement *judgement)
{
    attest_result result;
    attest_result_init(&result);
    result.verdict = judgement->verdict;
    return attest_result_exit(&result, 1);
}

static json_t *reasons_of(const attest_judgement *j)
{
    json_t *object = json_object();
    for (int i = 0; i < ATTEST_REASON_COUNT; i++)
        if (j->reason[i] > 0)
            json_object_set_new(object, attest_reason_names[i], json_integer(j->reason[i]));
    for (int i = 0; i < ATTEST_CONTEST_FINDINGS; i++)
        if (j->finding[i] > 0)
            json_object_set_new(object, findings[i], json_integer(j->finding[i]));
    return object;
}

static attest_status print_json(FILE *out, const attest_judgement *j, attest_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } counts[] = { { "lines", j->lines },   { "served", j->served },      { "cases", j->cases },
                   { "sizes", j->sizes },   { "timed", j->timed },        { "calls", j->calls },
                   { "failed", j->failed }, { "undecided", j->undecided } };
    json_t *object = json_object();
    json_object_set_new(object, "kernel", attest_json_text(j->kernel));
    json_object_set_new(object, "file_hash", attest_json_text(j->file_hash));
    json_object_set_new(object, "verdict", attest_json_text(attest_verdict_names[j->verdict]));
    json_object_set_new(object, "score", attest_json_number(j->score));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        json_object_set_new(object, counts[i].name, json_integer(counts[i].value));
    json_object_set_new(object, "reasons", reasons_of(j));
    json_object_set_new(object, "baseline", attest_json_text(j->baseline));
    json_object_set_new(object, "suite", attest_json_text(j->suite));
    json_object_set_new(object, "suite_hash", attest_json_text(j->suite_hash));
    json_object_set_new(object, "seed_digest", attest_json_text(j->digest));
    json_object_set_new(object, "tool", attest_json_text(ATTEST_VERSION));
    const attest_status status = attest_json_line(out, object);
    return status == ATTEST_OK ? status : attest_print_failed(err, "the judgement");
}

static attest_status print_text(FILE *out, const attest_judgement *j, attest_error *err)
{
    int first = 1;
    fprintf(out,
            "%-11s %s  score %.3g  %" PRId64 " of %" PRId64 " calls failed, %" PRId64 " cases, %" PRId64 " of %" PRId64
            " lines served",
            attest_verdict_names[j->verdict], j->kernel, j->score, j->failed, j->calls, j->cases, j->served, j->lines);
    for (int i = 0; i < ATTEST_REASON_COUNT; i++)
        if (j->reason[i] > 0) {
            fprintf(out, "%s%s %" PRId64, first ? "  [" : ", ", attest_reason_names[i], j->reason[i]);
            first = 0;
        }
    for (int i = 0; i < ATTEST_CONTEST_FINDINGS; i++)
        if (j->finding[i] > 0) {
            fprintf(out, "%s%s %" PRId64, first ? "  [" : ", ", findings[i], j->finding[i]);
            first = 0;
        }
    fprintf(out, "%s\n", first ? "" : "]");
    return ferror(out) ? attest_print_failed(err, "the judgement") : ATTEST_OK;
}

attest_status attest_judgement_print(FILE *out, const attest_judgement *judgement, int json, attest_error *err)
{
    return json ? print_json(out, judgement, err) : print_text(out, judgement, err);
}

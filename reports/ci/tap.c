/* tap.c - TAP version 14: a line a result, a YAML block for what needs attention. */
#include <stdlib.h>

#include "reports/ci/ci.h"

/* Text of a test point: `\` and `#` are escaped. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, *text == '\\' || *text == '#' ? "\\%c" : "%c", *text);
}

/* A key of the block; JSON's strings are YAML's. */
static int print_key(FILE *out, const char *key, const char *text)
{
    char *quoted = attest_json_dump(attest_json_text(text));
    if (quoted)
        fprintf(out, "  %s: %s\n", key, quoted);
    free(quoted);
    return quoted != NULL;
}

static int print_block(FILE *out, const attest_result *result)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    fputs("  ---\n", out);
    int printed = print_key(out, "verdict", attest_verdict_names[result->verdict]);
    printed = printed && (!*reasons || print_key(out, "reasons", reasons));
    printed = printed && (!*result->why || print_key(out, "why", result->why));
    printed = printed &&
              (!*result->worst || (print_key(out, "worst", result->worst) && print_key(out, "got", result->got) &&
                                   print_key(out, "truth", result->truth)));
    if (result->ratio_hi == result->ratio_hi)
        fprintf(out, "  ratio: %.6g\n", result->ratio_hi);
    printed = printed && print_key(out, "reproduce", result->reproduction);
    fputs("  ...\n", out);
    return printed;
}

attest_status attest_ci_print_tap(FILE *out, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    char name[sizeof result.problem + sizeof result.why];
    fprintf(out, "TAP version 14\n1..%zu\n", results->count);
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        const int bad = attest_results_bad(results, &result);
        fprintf(out, "%s %zu - ", bad ? "not ok" : "ok", i + 1);
        print_escaped(out, result.kernel);
        fputc(' ', out);
        attest_ci_case(name, sizeof name, &result);
        print_escaped(out, name);
        if (result.verdict == ATTEST_SKIP && !bad) {
            fputs(" # SKIP ", out);
            print_escaped(out, result.why);
        }
        fputc('\n', out);
        if (bad && !print_block(out, &result))
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for result %zu", i + 1));
    }
    if (ferror(out))
        status = attest_print_failed(err, "the results");
out:
    return status;
}

/* junit.c - JUnit XML: a testsuite a kernel, a testcase a result. */
#include <stdlib.h>
#include <string.h>

#include "reports/ci/ci.h"
#include "reports/overview.h"

static void print_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    attest_print_xml(out, value);
    fputc('"', out);
}

static int is_error(const attest_result *result)
{
    return result->verdict == ATTEST_CRASH || result->verdict == ATTEST_TIMEOUT || attest_result_unfinished(result);
}

/* pass, illposed, measured: nothing; skip, unless --fail-on names it: <skipped>; fail, no-evidence, partial and
 * undecided: <failure>; else, and of a run that did not finish, <error>. */
static void print_outcome(FILE *out, const attest_results *results, const attest_result *result)
{
    char reasons[256];
    const char *verdict = attest_verdict_names[result->verdict];
    const int bad = attest_results_bad(results, result), skip = result->verdict == ATTEST_SKIP && !bad;
    const char *element = skip ? "skipped" : is_error(result) ? "error" : "failure";
    if (!skip && !bad)
        return;
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    fprintf(out, "      <%s", element);
    print_attribute(out, "message", result->why[0] ? result->why : reasons[0] ? reasons : verdict);
    if (!skip)
        print_attribute(out, "type", attest_result_unfinished(result) ? ATTEST_CI_UNFINISHED : verdict);
    fprintf(out, ">");
    if (result->worst[0]) {
        fprintf(out, "worst ");
        attest_print_xml(out, result->worst);
        fprintf(out, ": got ");
        attest_print_xml(out, result->got);
        fprintf(out, ", truth ");
        attest_print_xml(out, result->truth);
        fprintf(out, ", ratio %.6g", result->ratio_hi);
    }
    fprintf(out, "</%s>\n      <system-out>", element);
    attest_print_xml(out, result->reproduction);
    fprintf(out, "</system-out>\n");
}

static void print_case(FILE *out, const attest_results *results, const attest_result *result)
{
    char name[sizeof result->problem + sizeof result->why];
    attest_ci_case(name, sizeof name, result);
    fprintf(out, "    <testcase");
    print_attribute(out, "classname", result->kernel);
    print_attribute(out, "name", name);
    fprintf(out, " time=\"%.6f\">\n", result->seconds_kernel == result->seconds_kernel ? result->seconds_kernel : 0.0);
    print_outcome(out, results, result);
    fprintf(out, "    </testcase>\n");
}

/* `of`: what all results of the kernel add up to; `there`: those that have a testcase.  Where not all are kept, their
 * number is a property. */
static void print_counts(FILE *out, const attest_tally *of, const attest_tally *there, unsigned no_pass)
{
    const size_t *n = there->by_verdict, open = n[ATTEST_UNDECIDED];
    const size_t unfinished = strcmp(of->kernel, ATTEST_RESULT_RUN) == 0 ? open : 0;
    const size_t errors = n[ATTEST_CRASH] + n[ATTEST_TIMEOUT] + unfinished;
    const size_t skips = no_pass >> ATTEST_SKIP & 1 ? 0 : n[ATTEST_SKIP]; /* the others are failures */
    const size_t failures = n[ATTEST_FAIL] + n[ATTEST_SKIP] - skips + open - unfinished + n[ATTEST_PARTIAL] +
                            n[ATTEST_NO_EVIDENCE];
    fprintf(out, "  <testsuite");
    print_attribute(out, "name", of->kernel);
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n", there->cases, failures, errors,
            skips);
    if (there->cases < of->cases)
        fprintf(out, "    <properties><property name=\"results\" value=\"%zu\"/></properties>\n", of->cases);
}

static attest_status print_suite(FILE *out, const attest_results *results, const attest_overview *o,
                                 const attest_tallies *there, size_t kernel, attest_error *err)
{
    static const attest_tally none = { .cases = 0 };
    attest_status status = ATTEST_OK;
    const attest_tally *of = &o->tallies.tally[kernel], *counted = &none;
    attest_result result;
    for (size_t k = 0; k < there->count; k++)
        if (strcmp(there->tally[k].kernel, of->kernel) == 0)
            counted = &there->tally[k];
    print_counts(out, of, counted, results->no_pass);
    for (size_t i = 0; i < o->count; i++) {
        if (o->place[i].kernel != kernel)
            continue;
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        print_case(out, results, &result);
    }
    fprintf(out, "  </testsuite>\n");
out:
    return status;
}

static attest_status take_tally(void *state, const attest_result *result, attest_error *err)
{
    return attest_tallies_take(state, result, err);
}

attest_status attest_ci_write_junit(const attest_results *results, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_overview o;
    attest_tallies there = { .count = 0 };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_overview_of(&o, results, err));
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take_tally, &there }, 1, err));
    ATTEST_TRY(attest_output_open(&out, path, err));
    fprintf(out.file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"attest\" tests=\"%zu\">\n",
            o.count);
    for (size_t k = 0; k < o.tallies.count; k++)
        ATTEST_TRY(print_suite(out.file, results, &o, &there, k, err));
    fprintf(out.file, "</testsuites>\n");
out:
    attest_overview_clear(&o);
    free(there.tally);
    return attest_output_close(&out, status, err);
}

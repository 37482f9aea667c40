/* gate_tell.c - what is said of a run when it has ended, and its exit code. */
#include <stdio.h>
#include <string.h>

#include "verify/gate/gate.h"

/* What attest_gate_tell() does with each. */
typedef struct telling {
    const char *fail_on;
    int json, strict;
    attest_exit code;
} telling;

static attest_status tell_one(void *state, const attest_result *result, attest_error *err)
{
    telling *t = state;
    const int named = strcmp(attest_verdict_names[result->verdict], t->fail_on) == 0;
    attest_exit_add(&t->code, named ? 4 : attest_result_exit(result, t->strict));
    if (t->json && attest_result_print_json(stdout, result) != ATTEST_OK)
        return attest_fail(err, ATTEST_IO, "cannot write the results");
    return ATTEST_OK;
}

int attest_gate_tell(const attest_options *options, const attest_results *results, const attest_run_info *info)
{
    attest_error err;
    char banner[256] = "";
    telling t = { .fail_on = options->fail_on ? options->fail_on : "",
                  .strict = options->strict,
                  .json = options->format && strcmp(options->format, "json") == 0 };
    const attest_status status = attest_results_pass(results, &(attest_accumulator){ tell_one, &t }, 1, &err);
    if (status != ATTEST_OK) {
        fprintf(stderr, "%s\n", err.text);
        return status == ATTEST_IO ? 2 : 70;
    }
    if (*info->ended) {
        attest_run_info_banner(banner, sizeof banner, info, 0);
        attest_exit_add(&t.code, 4);
        fprintf(t.json || options->quiet ? stderr : stdout, "%s\n", banner);
    }
    if (!t.json && !options->quiet)
        attest_results_print_console(stdout, results, attest_want_colour(stdout));
    return strcmp(info->ended, "SIGINT") == 0    ? 130
           : strcmp(info->ended, "SIGTERM") == 0 ? 143
                                                 : attest_exit_code(&t.code);
}

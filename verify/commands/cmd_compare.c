/* cmd_compare.c - `attest compare`: judges outputs that somebody else computed, from files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "verify/commands/cli.h"
#include "verify/compare/compare.h"
#include "verify/exchange/exchange.h"
#include "verify/gate/gate.h"
#include "verify/commands/inputs.h"

static json_t *reasons_to_json(int64_t reasons)
{
    json_t *list = json_array();
    for (int i = 0; i < ATTEST_REASON_COUNT; i++)
        if (reasons >> i & 1)
            json_array_append_new(list, json_string(attest_reason_names[i]));
    return list;
}

static attest_status print_json(const attest_result *result, const attest_cli *cli, attest_error *err)
{
    json_t *worst = json_pack("{s:o,s:o,s:o}", "index", attest_json_text(result->worst), "got",
                              attest_json_text(result->got), "truth", attest_json_text(result->truth));
    json_t *object = json_pack(
        "{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "verdict", attest_verdict_names[result->verdict], "reasons",
        reasons_to_json(result->reasons), "max_ulp", attest_json_pair(result->ulp_lo, result->ulp_hi), "max_ratio",
        attest_json_pair(result->ratio_lo, result->ratio_hi), "bias", attest_json_number(result->bias), "worst", worst,
        "bound", attest_json_number(result->bound));
    json_t *rest = json_pack("{s:s,s:o,s:I,s:I,s:o,s:o,s:o}", "model", cli->model ? cli->model : "unknown", "exp-ulp",
                             attest_json_number(cli->exp_ulp), "rows_judged", (json_int_t)result->rows_judged,
                             "rows_total", (json_int_t)result->rows_total, "why", attest_json_text(result->why),
                             "reproduction", attest_json_text(result->reproduction), "problem",
                             attest_json_text(result->problem));
    json_object_update(object, rest);
    json_decref(rest);
    if (attest_json_line(stdout, object) != ATTEST_OK)
        return attest_print_failed(err, "the result");
    return ATTEST_OK;
}

static void print_text(const attest_result *result, const attest_cli *cli)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, result->reasons);
    printf("verdict    %s%s%s%s%s\n", attest_verdict_names[result->verdict], *reasons ? ": " : "", reasons,
           *result->why ? "; " : "", result->why);
    printf("max ulp    [%.6g, %.6g]\n", result->ulp_lo, result->ulp_hi);
    printf("max ratio  [%.6g, %.6g] of the derived bound\n", result->ratio_lo, result->ratio_hi);
    printf("bias       %.3g (mean signed error / (u*abs_scale))\n", result->bias);
    printf("worst      %s  got %s  truth %s  bound %.6g\n", result->worst, result->got, result->truth, result->bound);
    printf("model      %s, exp error %g ulp; %lld of %lld rows judged\n", cli->model ? cli->model : "unknown",
           cli->exp_ulp, (long long)result->rows_judged, (long long)result->rows_total);
    printf("problem    %s\n", result->problem);
    printf("reproduce  %s\n", result->reproduction);
}

/* Judging a file against inputs that nobody gave is rarely meant. */
static void tell_drawn(const attest_case *c, const attest_cli *cli)
{
    for (int i = 0; i < cli->tensor_count; i++)
        if (strncmp(cli->tensor[i], "q=", 2) == 0)
            return;
    if (!cli->options.quiet)
        fprintf(stderr,
                "attest compare: q, k and v are drawn (family=%s seed=%llu); -t q=FILE -t k=FILE -t v=FILE gives your "
                "own\n",
                c->family, (unsigned long long)c->seed);
}

/* The command line itself, quoted: a comparison is reproduced by running it again. */
static void reproduce(attest_result *result, const attest_cli *cli)
{
    char word[1200];
    size_t at = 0;
    const size_t len = sizeof result->reproduction;
    attest_shell_quote(word, sizeof word, cli->options.program);
    at += (size_t)snprintf(result->reproduction, len, "%.400s compare", word);
    const struct {
        const char *option, *value;
    } options[] = { { "--problem", result->problem },
                    { "--model", cli->model },
                    { "--declare", cli->declare },
                    { "--draw", cli->draw } };
    for (size_t i = 0; i < 4 && at < len; i++)
        if (options[i].value) {
            attest_shell_quote(word, sizeof word, options[i].value);
            at += (size_t)snprintf(result->reproduction + at, len - at, " %s %s", options[i].option, word);
        }
    if (cli->exp_ulp_given && at < len)
        at += (size_t)snprintf(result->reproduction + at, len - at, " --exp-ulp %.17g", cli->exp_ulp);
    for (int i = 0; i < cli->tensor_count && at < len; i++) {
        attest_shell_quote(word, sizeof word, cli->tensor[i]);
        at += (size_t)snprintf(result->reproduction + at, len - at, " -t %s", word);
    }
}

/* What is assumed of one file's arithmetic, as the bounds take it. */
static attest_status assume(attest_declared *declared, const attest_cli *cli, const attest_problem *p,
                            attest_error *err)
{
    attest_declaration d;
    char why[256];
    attest_declaration_init(&d);
    const attest_status status = attest_cli_assume(cli, &d, p, err);
    if (status != ATTEST_OK)
        return status;
    *declared = (attest_declared){ .numerics = d.numerics, .flags = d.flags & ~(uint32_t)ATTEST_PACKED_STATE };
    return attest_declared_resolve(declared, p, d.outputs, why, sizeof why)
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
}

static attest_status tell_batch(attest_exit *code, const attest_results *results, const attest_cli *cli, int json,
                                attest_error *err)
{
    for (size_t i = 0; i < results->count; i++) {
        attest_result result;
        const attest_status status = attest_results_get(&result, results, i, err);
        if (status != ATTEST_OK)
            return status;
        attest_exit_add(code, attest_result_exit(&result, cli->options.strict));
        if (json && attest_result_print_json(stdout, &result) != ATTEST_OK)
            return attest_print_failed(err, "the results");
    }
    if (!json && !cli->options.quiet)
        attest_results_print_console(stdout, results, NULL, NULL, attest_want_colour(stdout));
    return ATTEST_OK;
}

/* --batch DIR */
static int compare_batch(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_exit code = { 0 };
    const char *format = cli->options.format ? cli->options.format : "text";
    const int json = strcmp(format, "json") == 0;
    const attest_batch_request request = { .dir = cli->batch,
                                           .where = cli->where,
                                           .cases = cli->case_glob,
                                           .assumed = { attest_cli_assume, cli, attest_cli_assumes(cli) },
                                           .program = cli->options.program };
    if (!json && strcmp(format, "text") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", format));
    if (cli->problem || cli->tensor_count || cli->draw)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT,
                               "--batch takes problems and tensors from its folder: no "
                               "--problem, -t or --draw beside it"));
    ATTEST_TRY(attest_batch(&results, &request, &err));
    ATTEST_TRY(tell_batch(&code, &results, cli, json, &err));
out:
    attest_results_clear(&results);
    return status == ATTEST_OK ? attest_exit_code(&code) : attest_cli_error(cli, status, &err);
}

int attest_command_compare(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_truth *truth = NULL;
    attest_declared declared;
    attest_case c;
    attest_result result;
    char line[ATTEST_LINE];
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    int code = 0;
    if (cli->batch)
        return compare_batch(cli);
    attest_result_init(&result);
    if (cli->where || cli->case_glob)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--where and --case choose cases of --batch DIR"));
    if (cli->options.format && !json && strcmp(cli->options.format, "text") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format));
    ATTEST_TRY(attest_bundle_new(&inputs, &err));
    ATTEST_TRY(attest_bundle_new(&outputs, &err));
    ATTEST_TRY(attest_inputs_load(&c, inputs, outputs, cli, &err));
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    size_t given = 0;
    const size_t count = attest_problem_outputs(&c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++)
        given += attest_bundle_get(outputs, ids[i]) != NULL;
    if (given == 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "nothing to judge: give an output, e.g. -t o=FILE"));
    ATTEST_TRY(assume(&declared, cli, &c.problem, &err));
    ATTEST_TRY(attest_case_print(line, sizeof line, &c, &err));
    attest_reference_case(line);
    ATTEST_TRY(attest_truth_new(&truth, &c.problem, inputs, ATTEST_ENGINE_AUTO, &err));
    attest_result_describe(&result, &c, line, attest_case_hash(&c));
    snprintf(result.kernel, sizeof result.kernel, "file");
    ATTEST_TRY(attest_compare(&result, truth, NULL, &c, outputs, &declared.numerics, declared.flags, 0, &err));
    reproduce(&result, cli);
    tell_drawn(&c, cli);
    if (json)
        ATTEST_TRY(print_json(&result, cli, &err));
    else if (!cli->options.quiet)
        print_text(&result, cli);
    attest_exit exit_code = { 0 };
    attest_exit_add(&exit_code, attest_result_exit(&result, cli->options.strict));
    code = attest_exit_code(&exit_code);
out:
    attest_truth_free(truth);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

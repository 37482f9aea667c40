/* cmd_compare.c - `attest compare`: judges outputs that somebody else computed, from files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "verify/commands/cli.h"
#include "verify/compare/compare.h"
#include "verify/commands/inputs.h"

/* --model: what is assumed of the arithmetic. */
static attest_status parse_model(attest_numerics *numerics, const attest_cli *cli, const attest_problem *p,
                                 attest_error *err)
{
    static const struct {
        const char *name;
        uint32_t schedule, form;
        int argument;
    } models[] = { { "two-pass", ATTEST_SCHEDULE_TWO_PASS, ATTEST_PARALLEL, 0 },
                   { "online", ATTEST_SCHEDULE_ONLINE, ATTEST_TILED, 1 },
                   { "split", ATTEST_SCHEDULE_SPLIT, ATTEST_SPLIT, 1 },
                   { "recurrent", ATTEST_SCHEDULE_RECURRENT, ATTEST_RECURRENT, 0 },
                   { "unknown", ATTEST_SCHEDULE_UNKNOWN, ATTEST_PARALLEL, 0 } };
    char why[160];
    const char *text = cli->model ? cli->model : "unknown";
    const char *colon = strchr(text, ':');
    const size_t len = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    const long argument = colon ? strtol(colon + 1, &end, 10) : 0;
    memset(numerics, 0, sizeof *numerics);
    numerics->struct_size = sizeof *numerics;
    numerics->acc_truncates = ATTEST_NO;
    /* An ulp is at most 2u relative; 0 would mean that nothing is known. */
    numerics->exp_error = cli->exp_ulp > 0 ? cli->exp_ulp * 2 * attest_unit_roundoff(p->acc) : 0x1p-1000;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        if (strlen(models[i].name) != len || strncmp(models[i].name, text, len) != 0)
            continue;
        if (models[i].argument != (colon != NULL) ||
            (colon && (*end || colon[1] == '\0' || argument < 1 || argument > 1 << 24)))
            break;
        if (!attest_variant_form_legal(p->axis, models[i].form, why, sizeof why))
            return attest_fail(err, ATTEST_BAD_INPUT, "--model=%s: no such form of this variant: %s", text, why);
        numerics->schedule = models[i].schedule;
        numerics->tile = models[i].schedule == ATTEST_SCHEDULE_ONLINE ? argument : 0;
        numerics->splits = models[i].schedule == ATTEST_SCHEDULE_SPLIT ? argument : 0;
        return ATTEST_OK;
    }
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "--model=%s: two-pass, online:TILE, split:S (1 to 2^24), recurrent or unknown", text);
}

static void print_reasons_json(int64_t reasons)
{
    int first = 1;
    for (int i = 0; i < ATTEST_REASON_COUNT; i++)
        if (reasons >> i & 1) {
            printf("%s\"%s\"", first ? "" : ",", attest_reason_names[i]);
            first = 0;
        }
}

/* JSON has no infinity or NaN: they are strings, as in `reference`. */
static void print_number(double x)
{
    if (x != x)
        printf("null");
    else if (x > 1.7976931348623157e308)
        printf("\"inf\"");
    else if (x < -1.7976931348623157e308)
        printf("\"-inf\"");
    else
        printf("%.17g", x);
}

static void print_pair(const char *key, double lo, double hi)
{
    printf("\"%s\":[", key);
    print_number(lo);
    printf(",");
    print_number(hi);
    printf("],");
}

static void print_json(const attest_row *row, const attest_cli *cli)
{
    printf("{\"verdict\":\"%s\",\"reasons\":[", attest_verdict_names[row->verdict]);
    print_reasons_json(row->reasons);
    printf("],");
    print_pair("max_ulp", row->ulp_lo, row->ulp_hi);
    print_pair("max_ratio", row->ratio_lo, row->ratio_hi);
    printf("\"bias\":");
    print_number(row->bias);
    printf(",\"worst\":{\"index\":");
    attest_print_json_string(row->worst);
    printf(",\"got\":");
    attest_print_json_string(row->got);
    printf(",\"truth\":");
    attest_print_json_string(row->truth);
    printf("},\"bound\":");
    print_number(row->bound);
    printf(",\"model\":\"%s\",\"exp-ulp\":", cli->model ? cli->model : "unknown");
    print_number(cli->exp_ulp);
    printf(",\"rows_judged\":%lld,\"rows_total\":%lld,\"why\":", (long long)row->rows_judged,
           (long long)row->rows_total);
    attest_print_json_string(row->why);
    printf(",\"reproduction\":");
    attest_print_json_string(row->reproduction);
    printf(",\"problem\":");
    attest_print_json_string(row->line);
    printf("}\n");
}

static void print_text(const attest_row *row, const attest_cli *cli)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    printf("verdict    %s%s%s%s%s\n", attest_verdict_names[row->verdict], *reasons ? ": " : "", reasons,
           *row->why ? "; " : "", row->why);
    printf("max ulp    [%.6g, %.6g]\n", row->ulp_lo, row->ulp_hi);
    printf("max ratio  [%.6g, %.6g] of the derived bound\n", row->ratio_lo, row->ratio_hi);
    printf("bias       %.3g (mean signed error / (u*gauge))\n", row->bias);
    printf("worst      %s  got %s  truth %s  bound %.6g\n", row->worst, row->got, row->truth, row->bound);
    printf("model      %s, exp error %g ulp; %lld of %lld rows judged\n", cli->model ? cli->model : "unknown",
           cli->exp_ulp, (long long)row->rows_judged, (long long)row->rows_total);
    printf("problem    %s\n", row->line);
    printf("reproduce  %s\n", row->reproduction);
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
static void reproduce(attest_row *row, const attest_cli *cli)
{
    char word[1200];
    size_t at = 0;
    const size_t len = sizeof row->reproduction;
    attest_shell_quote(word, sizeof word, cli->options.program);
    at += (size_t)snprintf(row->reproduction, len, "%.400s compare", word);
    const struct {
        const char *option, *value;
    } options[] = { { "--problem", row->line }, { "--model", cli->model }, { "--draw", cli->draw } };
    for (size_t i = 0; i < 3 && at < len; i++)
        if (options[i].value) {
            attest_shell_quote(word, sizeof word, options[i].value);
            at += (size_t)snprintf(row->reproduction + at, len - at, " %s %s", options[i].option, word);
        }
    if (cli->exp_ulp != 4 && at < len)
        at += (size_t)snprintf(row->reproduction + at, len - at, " --exp-ulp %.17g", cli->exp_ulp);
    for (int i = 0; i < cli->tensor_count && at < len; i++) {
        attest_shell_quote(word, sizeof word, cli->tensor[i]);
        at += (size_t)snprintf(row->reproduction + at, len - at, " -t %s", word);
    }
}

int attest_command_compare(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_truth *truth = NULL;
    attest_numerics numerics;
    attest_case c;
    attest_row row;
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    int code = 0;
    attest_row_init(&row);
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
    ATTEST_TRY(parse_model(&numerics, cli, &c.problem, &err));
    ATTEST_TRY(attest_truth_new(&truth, &c.problem, inputs, ATTEST_ENGINE_AUTO, &err));
    ATTEST_TRY(attest_case_print(row.line, sizeof row.line, &c, &err));
    snprintf(row.kernel, sizeof row.kernel, "file");
    ATTEST_TRY(attest_compare(&row, truth, NULL, &c, outputs, &numerics, 0, 0, &err));
    reproduce(&row, cli);
    tell_drawn(&c, cli);
    if (json)
        print_json(&row, cli);
    else if (!cli->options.quiet)
        print_text(&row, cli);
    attest_exit exit_code = { 0 };
    attest_exit_add(&exit_code, attest_row_exit(&row));
    code = attest_exit_code(&exit_code);
out:
    attest_truth_free(truth);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

/* cmd_judge.c - `attest judge`: a verdict and a score of kernels that may be made to deceive (contest.h). */
#include <stdio.h>
#include <string.h>

#include "reports/report.h"
#include "verify/commands/cli.h"
#include "verify/contest/contest.h"

static attest_status check_options(const attest_cli *cli, attest_error *err)
{
    const char *format = cli->options.format;
    if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", format);
    return ATTEST_OK;
}

/* The kernels that are wanted, one after the other; *code: the exit code of all. */
static attest_status judge_all(FILE *out, int json, const attest_contest *contest, int *code, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_exit all = { 0 };
    attest_judgement judgement;
    for (size_t k = 0; k < contest->plan->kernel_count; k++) {
        ATTEST_TRY(attest_contest_run(&judgement, contest, k, err));
        *code = attest_stop_signal() ? 128 + attest_stop_signal() : 0;
        if (*code)
            return ATTEST_OK;
        ATTEST_TRY(attest_judgement_print(out, &judgement, json, err));
        fflush(out);
        attest_exit_add(&all, attest_judgement_exit(&judgement));
    }
    *code = attest_exit_code(&all);
out:
    return status;
}

static attest_status write_all(const attest_cli *cli, const attest_contest *contest, int *code, attest_error *err)
{
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    attest_output file;
    if (!cli->out)
        return judge_all(stdout, json, contest, code, err);
    attest_status status = attest_output_open(&file, cli->out, err);
    if (status == ATTEST_OK)
        status = judge_all(file.file, 1, contest, code, err);
    return attest_output_close(&file, status, err);
}

int attest_command_judge(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_plan plan = { .library = NULL };
    char library[4096];
    const char *kernel;
    int code = 0;
    attest_split_target(cli->argument[0], library, sizeof library, &kernel);
    const char *list[1] = { *library ? library : NULL };
    const attest_gate gate = { .options = &cli->options,
                               .kernel_glob = cli->options.kernel ? cli->options.kernel : kernel };
    attest_contest contest = { .options = &cli->options, .suite = &suite, .plan = &plan, .baseline = cli->baseline };
    ATTEST_TRY(check_options(cli, &err));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "ci", &err));
    ATTEST_TRY(attest_contest_seed(&contest.seed, cli->options.seed, &err));
    ATTEST_TRY(attest_plan_make(&plan, list, 1, attest_gate_wants, &gate, cli->options.timeout, &err));
    if (plan.library[0].failed[0])
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "%.300s", plan.library[0].failed));
    if (plan.kernel_count == 0)
        ATTEST_TRY(attest_plan_no_kernel(&plan, gate.kernel_glob, cli->options.timeout, &err));
    attest_stop_watch();
    status = write_all(cli, &contest, &code, &err);
out:
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

/* cmd_export.c - `attest export`: the cases of a suite as files, for `attest compare --batch`. */
#include <stdio.h>
#include <string.h>

#include "verify/commands/cli.h"
#include "verify/commands/inputs.h"
#include "verify/exchange/exchange.h"

/* --kernel K or LIB.so:K: whose outputs are written too. */
static attest_status start_kernel(attest_subject *subject, char library[4096], const attest_cli *cli, attest_error *err)
{
    const char *kernel;
    attest_status status = ATTEST_OK;
    attest_split_target(cli->options.kernel, library, 4096, &kernel);
    *subject = (attest_subject){ .library = *library ? library : NULL, .program = cli->options.program };
    ATTEST_TRY(attest_worker_start(&subject->worker, subject->library, cli->options.timeout, err));
    ATTEST_TRY(attest_find_kernel(subject, kernel, err));
out:
    return status;
}

/* --out, --format, and what --golden goes with. */
static attest_status check_options(const attest_cli *cli, attest_error *err)
{
    const char *format = cli->options.format;
    const int assumes = attest_cli_assumes(cli);
    if (!cli->out)
        return attest_fail(err, ATTEST_BAD_INPUT, "--out DIR is missing: the folder to write");
    if (format && strcmp(format, "npy") != 0 && strcmp(format, "safetensors") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: npy or safetensors", format);
    if (assumes && !cli->golden)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--declare, --model and --exp-ulp say which bounds --golden writes: "
                           "only with it");
    if (assumes && cli->options.kernel)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--golden: the bounds are for what --kernel declares: no --declare, "
                           "--model or --exp-ulp beside it");
    return ATTEST_OK;
}

static void tell_done(const attest_cli *cli, const attest_exported *done)
{
    const char *ending = cli->options.format ? cli->options.format : "npy";
    if (!cli->options.quiet)
        fprintf(stderr, "%zu %s in %s; write o.%s beside the inputs of each, then `%s compare --batch %s`\n",
                done->count, attest_plural((int64_t)done->count, "case", "cases"), cli->out, ending,
                cli->options.program, cli->out);
    if (done->open > 0)
        fprintf(stderr, "attest export: %lld %s not decided at the cap of the precision\n", (long long)done->open,
                attest_plural(done->open, "rounding is", "roundings are"));
}

int attest_command_export(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_subject subject = { .worker = NULL };
    attest_exported done = { .count = 0 };
    char library[4096];
    ATTEST_TRY(check_options(cli, &err));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "smoke", &err));
    if (cli->where)
        ATTEST_TRY(attest_suite_where(&suite, cli->where, &err));
    if (cli->case_glob)
        attest_suite_keep(&suite, cli->case_glob);
    if (suite.case_count == 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT,
                               "no case of suite %s is wanted (`attest gate --suite %s "
                               "--list-cases` prints them)",
                               suite.name, suite.name));
    if (cli->options.kernel)
        ATTEST_TRY(start_kernel(&subject, library, cli, &err));
    const attest_export_request request = { .suite = &suite,
                                            .dir = cli->out,
                                            .subject = subject.worker ? &subject : NULL,
                                            .timeout_s = cli->options.timeout,
                                            .safetensors = cli->options.format &&
                                                           strcmp(cli->options.format, "safetensors") == 0,
                                            .golden = cli->golden,
                                            .assumed = { attest_cli_assume, cli, 0 } };
    ATTEST_TRY(attest_export(&done, &request, &err));
    tell_done(cli, &done);
out:
    attest_worker_free(subject.worker);
    attest_suite_clear(&suite);
    return status != ATTEST_OK ? attest_cli_error(cli, status, &err) : done.open > 0 ? 4 : 0;
}

/* cmd_export.c - `attest export`: the cases of a suite as files, for `attest compare --batch`. */
#include <stdio.h>

#include "verify/commands/cli.h"
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

int attest_command_export(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_subject subject = { .worker = NULL };
    char library[4096];
    size_t count = 0;
    if (!cli->out)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--out DIR is missing: the folder to write"));
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
    const attest_export_request request = {
        .suite = &suite, .dir = cli->out, .subject = subject.worker ? &subject : NULL, .timeout_s = cli->options.timeout
    };
    ATTEST_TRY(attest_export(&count, &request, &err));
    if (!cli->options.quiet)
        fprintf(stderr, "%zu %s in %s; write o.npy beside each q.npy, then `%s compare --batch %s`\n", count,
                attest_plural((int64_t)count, "case", "cases"), cli->out, cli->options.program, cli->out);
out:
    attest_worker_free(subject.worker);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

/* cmd_claims.c - `attest claims [--out DIR] [--format text|json]`: runs the ledger and writes it. */
#include <stdio.h>
#include <string.h>

#include "reports/report.h"
#include "verify/claims/claims.h"
#include "verify/commands/cli.h"

/* DIR/NAME, whole or not there. */
static attest_status write_file(const attest_ledger *ledger, const char *dir, const char *name, int json,
                                attest_error *err)
{
    char path[4000];
    attest_output out;
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "--out: the path is too long");
    attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK && json)
        status = attest_ledger_json(out.file, ledger, err);
    else if (status == ATTEST_OK)
        attest_ledger_markdown(out.file, ledger);
    return attest_output_close(&out, status, err);
}

int attest_command_claims(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_ledger ledger = { 0 };
    int code = 0;
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    if (cli->options.format && !json && strcmp(cli->options.format, "text") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(attest_ledger_run(&ledger, attest_claim_sources, attest_claim_source_count, &err));
    if (cli->out) {
        ATTEST_TRY(write_file(&ledger, cli->out, "claims.md", 0, &err));
        ATTEST_TRY(write_file(&ledger, cli->out, "claims.json", 1, &err));
    }
    if (json)
        ATTEST_TRY(attest_ledger_json(stdout, &ledger, &err));
    else if (!cli->out)
        attest_ledger_markdown(stdout, &ledger);
    code = attest_ledger_exit(&ledger, stderr);
    if (!cli->options.quiet)
        fprintf(stderr, "%zu claims, %zu of them with figures\n", ledger.count, attest_ledger_checked(&ledger));
out:
    attest_ledger_free(&ledger);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

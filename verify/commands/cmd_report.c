/* cmd_report.c - `attest report [DIR]`: the page from the rows; runs nothing. */
#include <stdio.h>

#include "reports/report.h"
#include "verify/commands/cli.h"

int attest_command_report(const attest_cli *cli)
{
    attest_error err = { "" };
    const char *dir = cli->argument_count ? cli->argument[0] : "build/report";
    const attest_status status = attest_report_write(dir, &err);
    if (status != ATTEST_OK)
        return attest_cli_error(cli, status, &err);
    if (!cli->options.quiet)
        fprintf(stderr, "%s/index.html\n", dir);
    return 0;
}

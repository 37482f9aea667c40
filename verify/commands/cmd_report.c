/* cmd_report.c - `attest report [DIR]`: the page from the rows; runs nothing. */
#include <stdio.h>
#include <unistd.h>

#include "reports/page/page.h"
#include "verify/commands/cli.h"
#include "verify/order/order.h"

/* DIR/NAME is there. */
static int has(const char *dir, const char *name)
{
    char path[4096];
    return snprintf(path, sizeof path, "%s/%s", dir, name) < (int)sizeof path && access(path, F_OK) == 0;
}

/* The table of orders that opens the page, where nobody made one (`attest order --out DIR`) and there is a page to be
 * made. */
static attest_status make_orders(const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_order_request request;
    attest_orders orders = { 0 };
    char path[4096];
    if (has(dir, "order.json") ||
        !(has(dir, "results.jsonl") || has(dir, "study-order.jsonl") || has(dir, "study-range.jsonl")) ||
        snprintf(path, sizeof path, "%s/order.json", dir) >= (int)sizeof path)
        return ATTEST_OK;
    ATTEST_TRY(attest_order_read(&request, NULL, NULL, NULL, err));
    ATTEST_TRY(attest_order_measure(&orders, &request, err));
    ATTEST_TRY(attest_orders_write(&orders, path, err));
out:
    attest_orders_clear(&orders);
    return status;
}

int attest_command_report(const attest_cli *cli)
{
    attest_error err = { "" };
    const char *dir = cli->argument_count ? cli->argument[0] : "build/report";
    attest_status status = make_orders(dir, &err);
    if (status == ATTEST_OK)
        status = attest_report_write(dir, &err);
    if (status != ATTEST_OK)
        return attest_cli_error(cli, status, &err);
    if (!cli->options.quiet)
        fprintf(stderr, "%s/index.html\n", dir);
    return 0;
}

/* cmd_order.c - `attest order`: which Taylor order is needed, from a range or a trace; see verify/order. */
#include <stdio.h>
#include <string.h>

#include "verify/commands/cli.h"
#include "verify/order/order.h"

static attest_status check_words(const attest_cli *cli, attest_error *err)
{
    if (cli->trace && cli->range)
        return attest_fail(err, ATTEST_BAD_INPUT, "--trace and --range: the range is that of the trace, give one");
    if (cli->problem && !cli->trace)
        return attest_fail(err, ATTEST_BAD_INPUT, "--problem: only with --trace");
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format);
    return ATTEST_OK;
}

static attest_status write_out(const attest_orders *orders, const char *dir, attest_error *err)
{
    char path[4096];
    const attest_status status = attest_output_dir(dir, err);
    if (status != ATTEST_OK)
        return status;
    if (snprintf(path, sizeof path, "%s/order.json", dir) >= (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "--out: the path is too long");
    return attest_orders_write(orders, path, err);
}

int attest_command_order(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_order_request request;
    attest_orders orders = { 0 };
    ATTEST_TRY(check_words(cli, &err));
    ATTEST_TRY(attest_order_read(&request, cli->range, cli->center, cli->axis[ATTEST_STUDY_IN], &err));
    if (cli->trace)
        ATTEST_TRY(attest_order_trace(&orders, &request, cli->trace, cli->problem, &err));
    else
        ATTEST_TRY(attest_order_measure(&orders, &request, &err));
    if (cli->cost)
        ATTEST_TRY(attest_order_cost(&orders, cli->cost, &err));
    if (cli->out)
        ATTEST_TRY(write_out(&orders, cli->out, &err));
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        status = attest_orders_print_json(stdout, &orders) == ATTEST_OK ? ATTEST_OK
                                                                        : attest_print_failed(&err, "the orders");
    else if (!cli->options.quiet)
        ATTEST_TRY(attest_orders_print(stdout, &orders, &err));
out:
    attest_orders_clear(&orders);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

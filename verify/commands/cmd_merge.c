/* cmd_merge.c - `attest merge DIR... --out DIR`: the shards of a suite as one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/gate/gate.h"
#include "verify/shard/shard.h"

/* One of the shards is no place for the whole. */
static attest_status check_out(const attest_cli *cli, attest_error *err)
{
    char *out = cli->out ? realpath(cli->out, NULL) : NULL;
    attest_status status = ATTEST_OK;
    if (!cli->out)
        status = attest_fail(err, ATTEST_BAD_INPUT, "--out=DIR is missing: where the whole run goes");
    for (int i = 0; i < cli->argument_count && out && status == ATTEST_OK; i++) {
        char *shard = realpath(cli->argument[i], NULL);
        if (shard && strcmp(shard, out) == 0)
            status = attest_fail(err, ATTEST_BAD_INPUT, "--out=%s is one of the shards", cli->out);
        free(shard);
    }
    free(out);
    return status;
}

/* A file of each shard is open: as many as the system allows. */
static void open_many(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int attest_command_merge(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_compact *compact = NULL;
    attest_whole whole = { 0 };
    attest_run_info info;
    int code = 0, lock = -1;
    const size_t count = (size_t)cli->argument_count;
    ATTEST_TRY(check_out(cli, &err));
    open_many();
    ATTEST_TRY(attest_shard_describe(&info, cli->argument, count, &err));
    ATTEST_TRY(attest_output_dir(cli->out, &err));
    info.complete = 0; /* until its results are there */
    ATTEST_TRY(attest_gate_folder_open(&lock, &results, &info, cli->out, 0, &err));
    ATTEST_TRY(attest_shard_merge(&results, &compact, &info, cli->argument, count, &err));
    if (cli->options.fail_on) /* else what a shard was told */
        snprintf(info.fail_on, sizeof info.fail_on, "%s", cli->options.fail_on);
    ATTEST_TRY(attest_gate_close_compact(&results, &whole, compact, cli->out, &err));
    ATTEST_TRY(attest_gate_write(&results, &info, cli->out, &err));
    ATTEST_TRY(attest_gate_tell(&code, &cli->options, &results, &info, &err));
out:
    if (lock >= 0)
        close(lock);
    attest_results_clear(&results);
    attest_whole_clear(&whole);
    attest_compact_free(compact);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

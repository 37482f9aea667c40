/* cmd_study.c - `attest study NAME`: options to a request, exit codes; the studies are in verify/study. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/study/study.h"

static attest_status find_study(const attest_study **study, const char *wanted, attest_error *err)
{
    char names[256] = "";
    const char *name, *sentence;
    *study = attest_study_find(wanted);
    for (size_t i = 0; attest_study_row(&name, &sentence, i); i++) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", name);
    }
    return *study ? ATTEST_OK : attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no study; studies: %s", wanted, names);
}

/* On stderr: what is unfinished, what no kernel serves, what could not be drawn. */
static void tell_end(const attest_cli *cli, const attest_study_end *end, const char *missing)
{
    const char *name = cli->argument[0];
    if (end->ended[0])
        fprintf(stderr, "attest study %s: unfinished: %zu of %zu points (%s)%s\n", name, end->done, end->points,
                end->ended, cli->out ? "; the same command with --resume goes on" : "");
    if (missing[0])
        fprintf(stderr, "attest study %s: no study-%s.svg: %s; the numbers are there\n", name, name, missing);
    if (end->refused > 0 && !cli->options.quiet)
        fprintf(stderr, "attest study %s: %zu of %zu points are not served, the last because %s\n", name, end->refused,
                end->points, end->why);
}

/* 3 where a kernel crashed or was late; 4 unfinished; 77 without a point. */
static attest_status exit_of(int *code, const attest_results *results, const attest_study_end *end, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    int ended = 0;
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&r, results, i, err));
        ended |= r.verdict == ATTEST_CRASH || r.verdict == ATTEST_TIMEOUT;
    }
    *code = end->signal ? 128 + end->signal : ended ? 3 : end->ended[0] ? 4 : results->count == 0 ? 77 : 0;
out:
    return status;
}

int attest_command_study(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_study_request request = { .options = &cli->options,
                                     .out = cli->out,
                                     .resume = cli->resume,
                                     .rounds = (int)cli->rounds,
                                     .progress = !cli->options.quiet && isatty(STDERR_FILENO) };
    attest_study_end end;
    char library[4096] = "", missing[256] = "";
    int code = 0, lock = -1;
    ATTEST_TRY(find_study(&request.study, cli->argument[0], &err));
    for (int a = 0; a < ATTEST_STUDY_AXES; a++)
        request.axis[a] = cli->axis[a];
    if (cli->options.kernel)
        attest_split_target(cli->options.kernel, library, sizeof library, &request.kernels);
    request.library = library[0] ? library : NULL;
    if (cli->resume && !cli->out)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--resume: --out says where the study lies"));
    if (cli->out) {
        ATTEST_TRY(attest_output_dir(cli->out, &err));
        ATTEST_TRY(attest_output_lock(&lock, cli->out, &err));
    }
    attest_stop_watch();
    ATTEST_TRY(attest_study_measure(&results, &end, &request, &err));
    if (cli->out)
        ATTEST_TRY(attest_study_write(missing, request.study, &results, &end, cli->out, &err));
    if (!cli->options.quiet)
        ATTEST_TRY(attest_study_print(stdout, ATTEST_TABLE_CONSOLE, request.study, &results, &end, &err));
    tell_end(cli, &end, missing);
    ATTEST_TRY(exit_of(&code, &results, &end, &err));
out:
    attest_results_clear(&results);
    if (lock >= 0)
        close(lock);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

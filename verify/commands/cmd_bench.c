/* cmd_bench.c - `attest bench reference|kernels`: what the engines and the kernels cost, side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/bench/bench.h"
#include "verify/base/base.h"

#define UNRELIABLE 4 /* exit code, as of a gate that is not to be relied on */

static const char *const reference_lines[] = {
    "variant=softmax mask=causal n=128 d=64",         "variant=softmax mask=causal n=512 d=64",
    "variant=softmax mask=causal n=512 d=64 in=bf16", "variant=softmax n=512 d=64",
    "variant=taylor:4 mask=causal n=512 d=64",        "variant=taylor:6 mask=causal n=512 d=64",
    "variant=taylor:4 mask=causal n=64 d=8 scale=1",
};
static const char *const kernel_lines[] = {
    "variant=softmax mask=causal n=512 d=64",  "variant=softmax mask=causal n=512 d=64 in=bf16",
    "variant=taylor:2 mask=causal n=512 d=16", "variant=linear-elu mask=causal n=512 d=64",
    "variant=gdn mask=causal n=512 d=64",
};

typedef attest_status (*bench_function)(attest_bench_table *, const char *, const attest_bench_options *,
                                        attest_error *);
typedef struct bench {
    const char *name;
    bench_function run;
    const char *const *lines;
    size_t count;
} bench;

static const bench benches[] = {
    { "reference", attest_bench_reference, reference_lines, sizeof reference_lines / sizeof reference_lines[0] },
    { "kernels", attest_bench_kernels, kernel_lines, sizeof kernel_lines / sizeof kernel_lines[0] },
};

/* What progress tells beside the numbers: which problem. */
typedef struct teller {
    const char *line;
} teller;

static void progress(void *context, int done, int total)
{
    const teller *t = context;
    fprintf(stderr, "\r\033[K");
    if (done < total)
        fprintf(stderr, "%s: %d of %d", t->line, done, total);
    fflush(stderr);
}

static attest_status find_bench(const bench **found, const attest_cli *cli, attest_error *err)
{
    *found = NULL;
    for (size_t b = 0; b < sizeof benches / sizeof benches[0]; b++)
        if (strcmp(cli->argument[0], benches[b].name) == 0)
            *found = &benches[b];
    if (!*found)
        return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is no bench: reference or kernels", cli->argument[0]);
    if (cli->options.kernel && *found == &benches[0])
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--kernel=%s: only for `bench kernels`; --engine chooses rows of `bench reference`",
                           cli->options.kernel);
    if (cli->engine && *found != &benches[0])
        return attest_fail(err, ATTEST_BAD_INPUT, "--engine=%s: only for `bench reference`; --kernel chooses kernels",
                           cli->engine);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format);
    return ATTEST_OK;
}

/* Threads of the second dd row: --jobs, else two where there are as many processors.  Kernels have a second row only
 * where it is asked for. */
static int threads_of(const attest_cli *cli)
{
    if (strcmp(cli->argument[0], "kernels") == 0)
        return (int)cli->options.jobs;
    if (cli->options.jobs > 0)
        return (int)cli->options.jobs;
    return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
}

/* One table, printed; *unreliable counts those whose baseline timing is not what it is said to be. */
static attest_status one_table(attest_bench_table *table, const bench *b, const char *line, const attest_cli *cli,
                               const attest_bench_options *options, int *unreliable, attest_error *err)
{
    attest_status status = ATTEST_OK;
    ATTEST_TRY(b->run(table, line, options, err));
    (cli->options.format && strcmp(cli->options.format, "json") == 0 ? attest_bench_print_json
                                                                     : attest_bench_print)(stdout, table);
    fflush(stdout);
    if (attest_bench_unreliable(table)) {
        fprintf(stderr, "attest bench: %s: mpfr-128 takes %.3f times its calls, more than %.2f: unreliable\n",
                table->line, attest_bench_honesty(table), ATTEST_BENCH_HONEST);
        ++*unreliable;
    }
    attest_bench_table_clear(table);
out:
    return status;
}

/* All problems; of the built-in ones, those that no wanted row serves are left out, and counted, unless that is all. */
static attest_status all_tables(attest_bench_table *table, const bench *b, const attest_cli *cli,
                                const attest_bench_options *options, int *unreliable, attest_error *err)
{
    attest_status status = ATTEST_OK;
    teller *t = options->clock->context;
    const size_t count = cli->problem ? 1 : b->count;
    size_t left_out = 0;
    for (size_t n = 0; n < count; n++) {
        t->line = cli->problem ? cli->problem : b->lines[n];
        status = one_table(table, b, t->line, cli, options, unreliable, err);
        if (status != ATTEST_OK && (status != ATTEST_UNSUPPORTED || ++left_out == count))
            return status;
    }
    if (left_out > 0 && !cli->options.quiet)
        fprintf(stderr, "attest bench: %zu of %zu problems left out, the last because: %s\n", left_out, count,
                err->text);
    return ATTEST_OK;
}

int attest_command_bench(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    const bench *b;
    int unreliable = 0;
    char folder[4096];
    teller t = { NULL };
    const int tells = !cli->options.quiet && isatty(STDERR_FILENO);
    const attest_bench_clock clock = { attest_bench_wall, attest_bench_thread, tells ? progress : NULL, &t };
    attest_bench_table *table = calloc(1, sizeof *table);
    if (!table)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "no memory for a table"));
    ATTEST_TRY(find_bench(&b, cli, &err));
    const attest_bench_options options = { .rounds = (int)cli->rounds,
                                           .threads = threads_of(cli),
                                           .glob = cli->options.kernel ? cli->options.kernel : cli->engine,
                                           .plugins = attest_cli_plugins(folder, sizeof folder, cli) ? folder : NULL,
                                           .clock = &clock };
    ATTEST_TRY(all_tables(table, b, cli, &options, &unreliable, &err));
out:
    free(table);
    return status != ATTEST_OK ? attest_cli_error(cli, status, &err) : unreliable ? UNRELIABLE : 0;
}

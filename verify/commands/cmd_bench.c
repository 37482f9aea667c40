/* cmd_bench.c - `attest bench reference|kernels`: what the engines and the kernels cost, side by side. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/inputs.h"
#include "verify/bench/bench.h"
#include "verify/base/base.h"

#define UNRELIABLE 4 /* exit code, as of a gate that is not to be relied on */
#define NOTHING 77   /* of a gate, too, without the device */

typedef attest_status (*bench_function)(attest_bench_table *, const char *, const attest_bench_options *,
                                        attest_error *);
typedef struct bench {
    const char *name;
    bench_function run;
} bench;

static const bench benches[] = { { "reference", attest_bench_reference }, { "kernels", attest_bench_kernels } };

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
    if (cli->options.device && *found == &benches[0])
        return attest_fail(err, ATTEST_BAD_INPUT, "--device=%s: only for `bench kernels`", cli->options.device);
    if (cli->options.device && !attest_cli_device(cli->options.device))
        return attest_fail(err, ATTEST_BAD_INPUT, "--device=%s: cpu, cuda or cuda-host", cli->options.device);
    if (cli->options.device && attest_cli_device(cli->options.device) != ATTEST_CPU && cli->options.jobs > 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--jobs=%ld: only for kernels of the CPU, not with --device=%s",
                           (long)cli->options.jobs, cli->options.device);
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

/* ---- kernels of libraries ---------------------------------------------------------------------------------------- */
typedef struct loaded {
    attest_libraries found;
    attest_plugin *plugin[ATTEST_CLI_LIBRARIES];
    size_t count;
} loaded;

/* The library has a kernel of the device, and the device is there. */
static int serves_device(const attest_plugin *plugin, uint32_t device)
{
    char text[200];
    int has = 0;
    for (uint32_t k = 0; k < plugin->library.kernel_count; k++)
        has |= plugin->kernel[k].kernel.device == device;
    return has && plugin->opened == ATTEST_OK &&
           plugin->memory.describe(plugin->context, text, sizeof text) == ATTEST_OK;
}

/* The libraries beside attest whose kernels can run on the device; one that cannot be loaded is told on stderr.
 * ATTEST_NO_DEVICE: there is none. */
static attest_status load_libraries(loaded *l, const attest_cli *cli, uint32_t device, attest_error *err)
{
    static const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_libraries_find(&l->found, cli, err));
    for (size_t i = 1; i < l->found.count; i++) {
        attest_plugin *plugin;
        status = attest_plugin_open(&plugin, l->found.list[i], &host, err);
        if (status == ATTEST_NO_MEMORY)
            goto out;
        if (status != ATTEST_OK && !cli->options.quiet)
            fprintf(stderr, "attest bench: %s\n", err->text);
        if (status == ATTEST_OK && serves_device(plugin, device))
            l->plugin[l->count++] = plugin;
        else if (status == ATTEST_OK)
            attest_plugin_free(plugin);
    }
    status = l->count > 0
                 ? ATTEST_OK
                 : attest_fail(err, ATTEST_NO_DEVICE, "--device=%s: no kernel in kernels/ beside attest can run there",
                               attest_device_name(device));
out:
    return status;
}

static void unload_libraries(loaded *l)
{
    for (size_t i = 0; i < l->count; i++)
        attest_plugin_free(l->plugin[i]);
    attest_libraries_clear(&l->found);
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
    const attest_bench_lines lines = attest_bench_lines_of(b != &benches[0], options->device);
    const size_t count = cli->problem ? 1 : lines.count;
    size_t left_out = 0;
    for (size_t n = 0; n < count; n++) {
        t->line = cli->problem ? cli->problem : lines.line[n];
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
    loaded libraries = { .count = 0 };
    uint32_t device = 0;
    const attest_bench_clock clock = { attest_bench_wall, attest_bench_thread, tells ? progress : NULL, &t };
    attest_bench_table *table = calloc(1, sizeof *table);
    if (!table)
        ATTEST_TRY(attest_fail(&err, ATTEST_NO_MEMORY, "no memory for a table"));
    ATTEST_TRY(find_bench(&b, cli, &err));
    device = cli->options.device ? attest_cli_device(cli->options.device) : ATTEST_CPU;
    ATTEST_TRY(attest_device_settings(device, &err));
    if (device != ATTEST_CPU)
        ATTEST_TRY(load_libraries(&libraries, cli, device, &err));
    const attest_bench_options options = { .rounds = (int)cli->rounds,
                                           .threads = threads_of(cli),
                                           .glob = cli->options.kernel ? cli->options.kernel : cli->engine,
                                           .plugins = attest_cli_plugins(folder, sizeof folder, cli) ? folder : NULL,
                                           .device = device == ATTEST_CPU ? 0 : device,
                                           .libraries = libraries.plugin,
                                           .library_count = libraries.count,
                                           .clock = &clock };
    ATTEST_TRY(all_tables(table, b, cli, &options, &unreliable, &err));
out:
    free(table);
    unload_libraries(&libraries);
    const int code = status == ATTEST_OK ? (unreliable ? UNRELIABLE : 0) : attest_cli_error(cli, status, &err);
    return status == ATTEST_NO_DEVICE ? NOTHING : code;
}

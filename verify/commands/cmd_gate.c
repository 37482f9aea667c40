/* cmd_gate.c - `attest gate` and `attest audit`: choose libraries and kernels, run the suite, write, tell. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/commands/cli.h"
#include "verify/gate/cover_suite.h"
#include "verify/gate/gate.h"
#include "verify/gate/noticed.h"

#define MAX_LIBRARIES 64
#define AUDIT_PROPS 200 /* cases of properties behind an audit with a built-in suite */

/* The built-in kernels and the plugins in `kernels/` beside the executable, sorted by name. */
typedef struct libraries {
    char *path[MAX_LIBRARIES];
    const char *list[MAX_LIBRARIES + 1];
    size_t count;
} libraries;

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void find_plugins(libraries *l, const attest_cli *cli)
{
    char folder[4096];
    size_t found = 0;
    l->list[l->count++] = NULL;
    if (!attest_cli_plugins(folder, sizeof folder, cli))
        return;
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry && found < MAX_LIBRARIES; entry = readdir(dir)) {
        const size_t len = strlen(entry->d_name);
        if (len > 3 && strcmp(entry->d_name + len - 3, ".so") == 0 &&
            asprintf(&l->path[found], "%s/%s", folder, entry->d_name) > 0)
            found++;
    }
    closedir(dir);
    qsort(l->path, found, sizeof l->path[0], by_name);
    for (size_t i = 0; i < found; i++)
        l->list[l->count++] = l->path[i];
}

static void libraries_clear(libraries *l)
{
    for (size_t i = 0; i < MAX_LIBRARIES; i++)
        free(l->path[i]);
}

static attest_status check_words(const attest_cli *cli, attest_error *err)
{
    const char *devices[] = { cli->options.device, cli->require_device };
    static const char *const options[] = { "device", "require-device" };
    for (int i = 0; i < 2; i++)
        if (devices[i] && strcmp(devices[i], "cpu") != 0 && strcmp(devices[i], "cuda") != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "--%s=%s: cpu or cuda", options[i], devices[i]);
    if (cli->options.fail_on && strcmp(cli->options.fail_on, "undecided") != 0 &&
        strcmp(cli->options.fail_on, "skip") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--fail-on=%s: undecided or skip", cli->options.fail_on);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text or json", cli->options.format);
    return ATTEST_OK;
}

/* At least one kernel matches the glob and the device; --require-device finds one that can run. */
static attest_status check_kernels(const attest_gate *gate, const char *require_device, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int matched = 0, device = require_device == NULL;
    attest_worker *worker = NULL;
    for (size_t l = 0; l < gate->library_count; l++) {
        ATTEST_TRY(attest_worker_start(&worker, gate->libraries[l], gate->options->timeout, err));
        for (size_t k = 0; k < attest_worker_kernel_count(worker); k++) {
            const attest_kernel_facts *facts = attest_worker_kernel(worker, k);
            char why[256] = "";
            const uint32_t wanted = require_device && strcmp(require_device, "cuda") == 0 ? ATTEST_CUDA : ATTEST_CPU;
            if (!attest_kernel_wanted(gate, facts))
                continue;
            matched++;
            if (device || facts->device_type != wanted)
                continue;
            for (size_t i = 0; i < gate->suite->case_count && !device; i++)
                device = attest_worker_supports(worker, k, &gate->suite->cases[i].problem, why, sizeof why) > 0;
        }
        attest_worker_free(worker);
        worker = NULL;
    }
    if (!matched)
        status = attest_fail(err, ATTEST_BAD_INPUT, "no kernel matches '%s' (`attest list kernels`)",
                             gate->kernel_glob ? gate->kernel_glob : "*");
    else if (!device)
        status = attest_fail(err, ATTEST_BAD_INPUT, "--require-device=%s: no kernel can run on such a device here",
                             require_device);
out:
    attest_worker_free(worker);
    return status;
}

/* OUT/traits.jsonl: an audit's; of an earlier one in the same folder nothing stays. */
static attest_status write_traits(const attest_gate *gate, const char *out, const attest_traits *traits,
                                  attest_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/traits.jsonl", out) >= (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", out);
    if (gate->traits)
        return attest_traits_write_jsonl(traits, path, err);
    if (unlink(path) != 0 && errno != ENOENT)
        return attest_fail(err, ATTEST_IO, "%s: %s", path, strerror(errno));
    return ATTEST_OK;
}

static attest_status tell_traits(const attest_cli *cli, const attest_traits *traits, attest_error *err)
{
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        for (size_t n = 0; n < traits->count; n++)
            attest_trait_print_json(stdout, &traits->trait[n]);
    else if (!cli->options.quiet)
        return attest_traits_print(stdout, traits, err);
    return ATTEST_OK;
}

/* What the audit would have noticed. */
static attest_status tell_noticed(const attest_cli *cli, const attest_gate *gate, const attest_results *results,
                                  attest_error *err)
{
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    attest_noticed *list = NULL;
    size_t count = 0;
    attest_status status = ATTEST_OK;
    if (!gate->traits || (cli->options.quiet && !json))
        return status;
    ATTEST_TRY(attest_gate_noticed(&list, &count, results, gate, err));
    ATTEST_TRY(attest_noticed_print(stdout, list, count, json, err));
out:
    free(list);
    return status;
}

/* Runs the gate, writes --out, prints; returns the exit code. */
static int run_and_tell(const attest_gate *gate, const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_traits traits = { 0 };
    int code = 0;
    ATTEST_TRY(check_kernels(gate, cli->require_device, &err));
    attest_error run_err = { "" };
    const attest_status run_status = attest_gate_run(&results, gate, &run_err);
    if (gate->traits && run_status == ATTEST_OK)
        ATTEST_TRY(attest_gate_traits(&results, &traits, gate, &err));
    if (cli->out && results.count > 0) {
        ATTEST_TRY(attest_gate_write(&results, cli->out, &err));
        ATTEST_TRY(write_traits(gate, cli->out, &traits, &err));
    }
    if (cli->out && !cli->options.quiet && results.count > 0)
        fprintf(stderr, "results are in %s; `%s report %s` makes the page\n", cli->out, cli->options.program, cli->out);
    if (results.count > 0 && run_status != ATTEST_BAD_INPUT) /* what was judged is told, whatever came after it */
        code = attest_gate_tell(&cli->options, &results);
    ATTEST_TRY(tell_traits(cli, &traits, &err));
    if (run_status == ATTEST_OK)
        ATTEST_TRY(tell_noticed(cli, gate, &results, &err));
    status = run_status;
    err = run_err;
out:
    attest_results_clear(&results);
    attest_traits_clear(&traits);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

static attest_status list_cases(const attest_suite *suite, attest_error *err)
{
    char line[ATTEST_LINE];
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < suite->case_count; i++) {
        ATTEST_TRY(attest_case_print(line, sizeof line, &suite->cases[i], err));
        printf("%s\n", line);
    }
out:
    return status;
}

int attest_command_gate(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    libraries l = { 0 };
    int code = 0;
    ATTEST_TRY(check_words(cli, &err));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "smoke", &err));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    find_plugins(&l, cli);
    const attest_gate gate = { .options = &cli->options,
                               .suite = &suite,
                               .libraries = l.list,
                               .library_count = l.count,
                               .kernel_glob = cli->options.kernel };
    if (cli->cover)
        ATTEST_TRY(attest_suite_cover(&suite, &gate, (int)cli->cover, &err));
    if (cli->list_cases || cli->coverage) {
        ATTEST_TRY(cli->coverage ? attest_suite_coverage(stdout, &suite, &gate, &err) : list_cases(&suite, &err));
        goto out;
    }
    code = run_and_tell(&gate, cli);
out:
    libraries_clear(&l);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

int attest_command_audit(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    char library[4096];
    const char *kernel;
    attest_exit code = { 0 };
    attest_split_target(cli->argument[0], library, sizeof library, &kernel);
    const char *list[1] = { *library ? library : NULL };
    ATTEST_TRY(check_words(cli, &err));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "smoke", &err));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    const attest_gate gate = { .options = &cli->options,
                               .suite = &suite,
                               .libraries = list,
                               .library_count = 1,
                               .kernel_glob = kernel,
                               .traits = 1,
                               .tell_coverage = 1 };
    if (cli->cover || suite.builtin)
        ATTEST_TRY(attest_suite_cover(&suite, &gate, cli->cover ? (int)cli->cover : 2, &err));
    attest_exit_add(&code, run_and_tell(&gate, cli));
    if (suite.builtin)
        attest_exit_add(&code, attest_props_part(cli, list[0], kernel, AUDIT_PROPS));
out:
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? attest_exit_code(&code) : attest_cli_error(cli, status, &err);
}

/* cmd_gate.c - `attest gate` and `attest audit`: choose libraries and kernels, run the suite, write, tell. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/ci/ci.h"
#include "reports/diff/diff.h"
#include "verify/commands/cli.h"
#include "verify/commands/inputs.h"
#include "verify/gate/cover_suite.h"
#include "verify/gate/gate.h"
#include "verify/gate/diagnosis/conventions.h"
#include "verify/gate/diagnosis/noticed.h"
#include "verify/shard/shard.h"

/* What --library names, in that order; else the built-in kernels and the plugins beside the executable.
 * A library that is named twice would have each of its results twice; one that is not there is a wrong word. */
static attest_status find_libraries(attest_libraries *l, const attest_cli *cli, attest_error *err)
{
    for (int i = 0; i < cli->library_count; i++) {
        for (size_t j = 0; j < l->count; j++)
            if (strcmp(l->list[j], cli->library[i]) == 0)
                return attest_fail(err, ATTEST_BAD_INPUT, "--library=%s: given twice", cli->library[i]);
        if (strncmp(cli->library[i], "exec:", 5) != 0 && access(cli->library[i], R_OK) != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "--library=%s: %s", cli->library[i], strerror(errno));
        l->list[l->count++] = cli->library[i];
    }
    return l->count == 0 ? attest_libraries_find(l, cli, err) : ATTEST_OK;
}

static int same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* It can be read, and stays while the run goes: of the results in --out nothing does. */
static attest_status check_baseline(const attest_cli *cli, attest_error *err)
{
    char path[4096] = "";
    if (cli->out)
        snprintf(path, sizeof path, "%.4000s/results.jsonl", cli->out);
    if (cli->out && (same_file(cli->baseline, cli->out) || same_file(cli->baseline, path)))
        return attest_fail(err, ATTEST_BAD_INPUT, "--baseline=%.300s: the run replaces it, it is in --out=%.300s",
                           cli->baseline, cli->out);
    return attest_diff_readable(cli->baseline, err);
}

/* Options alone, and the file of --baseline: before anything runs. */
static attest_status check_words(const attest_cli *cli, attest_error *err)
{
    const char *devices[] = { cli->options.device, cli->require_device };
    static const char *const options[] = { "device", "require-device" };
    for (int i = 0; i < 2; i++)
        if (devices[i] && !attest_cli_device(devices[i]))
            return attest_fail(err, ATTEST_BAD_INPUT, "--%s=%s: cpu, cuda or cuda-host", options[i], devices[i]);
    if (cli->options.fail_on && strcmp(cli->options.fail_on, "undecided") != 0 &&
        strcmp(cli->options.fail_on, "skip") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--fail-on=%s: undecided or skip", cli->options.fail_on);
    if (cli->options.format && strcmp(cli->options.format, "text") != 0 && strcmp(cli->options.format, "json") != 0 &&
        strcmp(cli->options.format, "tap") != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--format=%s: text, json or tap", cli->options.format);
    const attest_status status = attest_cli_check_results(cli, err);
    return status == ATTEST_OK && cli->baseline ? check_baseline(cli, err) : status;
}

static attest_status check_device(const attest_gate *gate, const char *wanted, attest_error *err)
{
    return attest_gate_reaches(gate, attest_cli_device(wanted))
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "--require-device=%s: no kernel can run on such a device here",
                             wanted);
}

/* Some kernel is wanted, or a library may have had it; --require-device finds one that can run. */
static attest_status check_kernels(const attest_gate *gate, const char *require_device, attest_error *err)
{
    int lost = 0;
    for (size_t l = 0; l < gate->plan->library_count; l++)
        lost |= gate->plan->library[l].failed[0] != '\0';
    if (gate->plan->kernel_count == 0 && !lost)
        return attest_plan_no_kernel(gate->plan, gate->kernel_glob, gate->options->timeout, err);
    return require_device ? check_device(gate, require_device, err) : ATTEST_OK;
}

static attest_status path_in(char *path, size_t len, const char *out, const char *name, attest_error *err)
{
    return snprintf(path, len, "%s/%s", out, name) < (int)len
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", out);
}

static attest_status forget(const char *path, attest_error *err)
{
    return unlink(path) == 0 || errno == ENOENT
               ? ATTEST_OK
               : attest_fail(err, attest_of_errno(ATTEST_IO), "%s: %s", path, strerror(errno));
}

/* OUT/traits.jsonl and OUT/noticed.json: an audit's; of an earlier one in the same folder nothing stays. */
static attest_status write_traits(const attest_gate *gate, const char *out, const attest_traits *traits,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[4096], noticed[4096];
    ATTEST_TRY(path_in(path, sizeof path, out, "traits.jsonl", err));
    ATTEST_TRY(path_in(noticed, sizeof noticed, out, "noticed.json", err));
    ATTEST_TRY(forget(noticed, err));
    status = gate->traits ? attest_traits_write_jsonl(traits, path, err) : forget(path, err);
out:
    return status;
}

static attest_status tell_traits(const attest_cli *cli, const attest_traits *traits, attest_error *err)
{
    if (cli->options.format && strcmp(cli->options.format, "json") == 0)
        for (size_t n = 0; n < traits->count; n++)
            attest_trait_print_json(stdout, &traits->trait[n]);
    else if (!cli->options.quiet && !(cli->options.format && strcmp(cli->options.format, "tap") == 0))
        return attest_traits_print(stdout, traits, err);
    return ATTEST_OK;
}

/* What the audit would have noticed, printed and in OUT/noticed.json. */
static attest_status tell_noticed(const attest_cli *cli, const attest_gate *gate, const attest_results *results,
                                  attest_error *err)
{
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    attest_noticed *list = NULL;
    size_t count = 0;
    char path[4096];
    attest_status status = ATTEST_OK;
    const int tap = cli->options.format && strcmp(cli->options.format, "tap") == 0;
    const int told = json || (!tap && !cli->options.quiet);
    if (!gate->traits || (!told && !cli->out))
        return status;
    ATTEST_TRY(attest_gate_noticed(&list, &count, results, gate, err));
    if (cli->out) {
        ATTEST_TRY(path_in(path, sizeof path, cli->out, "noticed.json", err));
        ATTEST_TRY(attest_noticed_write(list, count, path, err));
    }
    if (told)
        ATTEST_TRY(attest_noticed_print(stdout, list, count, json, err));
out:
    free(list);
    return status;
}

/* Under which other conventions the outputs of what failed would pass: run.json, the summary and the console say it. */
static attest_status find_conventions(attest_fit **list, size_t *count, attest_run_info *info, const attest_gate *gate,
                                      const attest_cli *cli, const attest_results *results, attest_error *err)
{
    const char *format = cli->options.format ? cli->options.format : "text";
    const int told = !cli->options.quiet && strcmp(format, "tap") != 0;
    attest_status status = ATTEST_OK;
    if (!info->complete || !(told || cli->out || attest_ci_on_github()))
        return ATTEST_OK;
    ATTEST_TRY(attest_conventions_find(list, count, results, gate, err));
    if (*count == 0)
        return ATTEST_OK;
    attest_conventions_keep(info, *list, *count);
    if (cli->out && info->finished)
        status = attest_gate_write_words(results, info, cli->out, err);
out:
    return status;
}

/* In the folder: results, traits, and where to look. */
static attest_status write_folder(const attest_gate *gate, const attest_cli *cli, const attest_results *results,
                                  const attest_traits *traits, attest_run_info *info, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (!cli->out)
        return ATTEST_OK;
    if (!info->finished)
        status = attest_gate_write(results, info, cli->out, err);
    if (status != ATTEST_OK && !*info->ended) { /* the headline says that the run is no whole one */
        info->complete = 0;
        snprintf(info->ended, sizeof info->ended, "its files could not be written");
    }
    if (status == ATTEST_OK)
        status = write_traits(gate, cli->out, traits, err);
    if (status == ATTEST_OK && !cli->options.quiet)
        fprintf(stderr, "results are in %s; `%s report %s` makes the page\n", cli->out, cli->options.program, cli->out);
    return status;
}

/* What was judged is told, whether it could be written or not; without memory nothing is. */
static attest_status write_and_tell(int *code, const attest_gate *gate, const attest_cli *cli,
                                    const attest_results *results, const attest_traits *traits, attest_run_info *info,
                                    attest_error *err)
{
    const int json = cli->options.format && strcmp(cli->options.format, "json") == 0;
    attest_fit *list = NULL;
    size_t count = 0;
    attest_error late;
    info->seconds = attest_now_seconds() - info->started; /* traits and properties, too */
    attest_status status = write_folder(gate, cli, results, traits, info, err);
    const attest_status found = status == ATTEST_OK ? find_conventions(&list, &count, info, gate, cli, results, err)
                                                    : ATTEST_OK;
    if (results->count > 0 && status != ATTEST_NO_MEMORY) {
        const attest_status told = attest_gate_tell(code, &cli->options, results, info, &late);
        if (status == ATTEST_OK && found == ATTEST_OK && told != ATTEST_OK) {
            *err = late;
            status = told;
        }
    }
    if (status == ATTEST_OK)
        status = found;
    if (status == ATTEST_OK)
        status = tell_traits(cli, traits, err);
    if (status == ATTEST_OK && json)
        status = attest_conventions_print(stdout, list, count, 1, err);
    free(list);
    return status;
}

/* Said beforehand where it is much; a case that is larger than the machine is a usage error. */
static attest_status tell_memory(const attest_gate *gate, attest_error *err)
{
    const uint64_t gib = (uint64_t)1 << 30;
    uint64_t bytes;
    size_t largest;
    const attest_status status = attest_gate_memory(&bytes, &largest, gate, err);
    if (status == ATTEST_OK && bytes > gib && !gate->options->quiet)
        fprintf(stderr, "suite %s takes up to about %.1f GiB of memory%s; its largest case: %s\n", gate->suite->name,
                (double)bytes / (double)gib,
                bytes > attest_memory_total() ? ", more than there is (--jobs=1 takes less)" : "",
                attest_suite_line(gate->suite, largest));
    return status;
}

/* What changed since --baseline: told, noted in the results and in what run.json says; once, of a run that is whole. */
static attest_status compare_with_baseline(attest_results *results, attest_run_info *info, const attest_cli *cli,
                                           attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_diff diff = { 0 };
    const char *format = cli->options.format ? cli->options.format : "text";
    if (!cli->baseline || !info->complete || *info->baseline)
        return ATTEST_OK;
    ATTEST_TRY(attest_diff_against(&diff, cli->baseline, results, err));
    ATTEST_TRY(attest_diff_note(results, &diff, cli->baseline, err));
    attest_diff_headline(info->baseline, sizeof info->baseline, &diff, cli->baseline);
    if (!cli->options.quiet && strcmp(format, "text") == 0 && diff.count > 0) {
        attest_diff_print(stdout, &diff, NULL);
        putchar('\n');
    }
    if (diff.compared == 0)
        fprintf(stderr, "no result could be compared with %s: exit code 4; `%s baseline review` shows why\n",
                cli->baseline, cli->options.program);
    else if (*diff.partial[0])
        fprintf(stderr, "%s: exit code 4\n", diff.partial[0]);
out:
    attest_diff_clear(&diff);
    return status;
}

/* Runs the gate, writes --out, prints; returns the exit code. */
static int run_and_tell(const attest_gate *gate, const attest_cli *cli, const attest_shard *shard, const char *cases)
{
    attest_error err = { "" }, late = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_traits traits = { 0 };
    attest_whole whole = { 0 };
    attest_run_info info;
    int code = 0, asked = 0, lock = -1;
    attest_exit all = { 0 };
    ATTEST_TRY(check_kernels(gate, cli->require_device, &err));
    ATTEST_TRY(tell_memory(gate, &err));
    ATTEST_TRY(attest_gate_describe(&info, gate, &err));
    if (shard->count > 0)
        snprintf(info.shard, sizeof info.shard, "%d/%d", (int)shard->index, (int)shard->count);
    ATTEST_TRY(attest_gate_note(&info, "predict", cli->predict, &err));
    ATTEST_TRY(attest_gate_note(&info, "baseline", cli->baseline, &err));
    if (cli->out)
        ATTEST_TRY(attest_gate_folder_open(&lock, &results, &info, cli->out, cli->resume, &err));
    if (cli->out && cases && !info.complete)
        ATTEST_TRY(attest_shard_write(cases, cli->out, &err));
    attest_stop_watch();
    if (!info.complete)
        status = attest_gate_run(&results, &info, gate, &err);
    /* Of the suite: it says nothing of kernels.  Without memory: what came is in --out, as it came. */
    if (status == ATTEST_BAD_INPUT || status == ATTEST_NO_MEMORY)
        goto out;
    if (status == ATTEST_OK)
        status = attest_audit_more(&asked, &results, &traits, &info, gate, cli, &err);
    if (status == ATTEST_OK)
        status = compare_with_baseline(&results, &info, cli, &err);
    const attest_status closed = attest_gate_close_compact(&results, &whole, gate->compact, cli->out, &late);
    if (status == ATTEST_OK && closed != ATTEST_OK) {
        status = closed;
        err = late;
    }
    const attest_status told = write_and_tell(&code, gate, cli, &results, &traits, &info, &late);
    if (status == ATTEST_OK && told != ATTEST_OK) {
        status = told;
        err = late;
    }
    if (status == ATTEST_OK && info.complete)
        ATTEST_TRY(tell_noticed(cli, gate, &results, &err));
out:
    if (lock >= 0)
        close(lock);
    attest_results_clear(&results);
    attest_whole_clear(&whole);
    attest_traits_clear(&traits);
    attest_exit_add(&all, code);
    if (asked > 0) /* 0 adds nothing: it would count as judged */
        attest_exit_add(&all, asked);
    if (status != ATTEST_OK)
        return attest_cli_error(cli, status, &err);
    return code > 128 ? code : attest_exit_code(&all); /* a signal ends all of it */
}

static void list_cases(const attest_suite *suite)
{
    for (size_t i = 0; i < suite->case_count; i++)
        printf("%s\n", attest_suite_line(suite, i));
}

static attest_status make_plan(attest_plan *plan, const attest_gate *gate, const char *const *list, size_t count,
                               attest_error *err)
{
    return attest_plan_make(plan, list, count, attest_gate_wants, gate, gate->options->timeout, err);
}

/* --case */
static attest_status keep_cases(attest_suite *suite, const attest_cli *cli, attest_error *err)
{
    if (!cli->case_glob)
        return ATTEST_OK;
    attest_suite_keep(suite, cli->case_glob);
    if (suite->case_count == 0)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "--case=%.200s: no case of suite %s matches (--list-cases prints them)", cli->case_glob,
                           suite->name);
    return ATTEST_OK;
}

/* --shard, or what the environment says of shards. */
static attest_status keep_shard(attest_shard *shard, char **cases, attest_suite *suite, const attest_plan *plan,
                                const attest_cli *cli, attest_error *err)
{
    const size_t whole = suite->case_count;
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_shard_read(shard, cli->shard, err));
    if (shard->count == 0)
        return ATTEST_OK;
    if (cli->baseline)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "--baseline: not of a shard; `attest merge`, then "
                               "`attest diff BASELINE DIR`"));
    ATTEST_TRY(attest_shard_keep(cases, suite, plan, shard, !attest_cli_is_compact(cli), err));
    if (!cli->options.quiet)
        fprintf(stderr, "shard %d of %d: %zu of %zu cases; `attest merge` puts the shards together\n",
                (int)shard->index, (int)shard->count, suite->case_count, whole);
out:
    return status;
}

int attest_command_gate(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_plan plan = { .library = NULL };
    attest_libraries l = { .count = 0 };
    attest_shard shard = { 0, 0 };
    char *cases = NULL;
    int code = 0;
    attest_look look = { attest_predictions_look, NULL };
    attest_predictions *predictions = NULL;
    attest_gate gate = { .options = &cli->options,
                         .suite = &suite,
                         .plan = &plan,
                         .kernel_glob = cli->options.kernel,
                         .look = cli->predict ? &look : NULL,
                         .began = attest_now_seconds() };
    ATTEST_TRY(check_words(cli, &err));
    if (attest_cli_is_compact(cli))
        ATTEST_TRY(attest_compact_new(&gate.compact, &err));
    if (cli->resume && !cli->out)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--resume needs --out DIR, the folder of the run"));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "smoke", &err));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(find_libraries(&l, cli, &err));
    ATTEST_TRY(make_plan(&plan, &gate, l.list, l.count, &err));
    if (cli->cover && !cli->list_cases && !cli->coverage)
        attest_stop_watch();
    if (cli->cover)
        ATTEST_TRY(attest_suite_cover(&suite, &gate, (int)cli->cover, 0, &err));
    ATTEST_TRY(keep_cases(&suite, cli, &err));
    ATTEST_TRY(keep_shard(&shard, &cases, &suite, &plan, cli, &err));
    if (cli->list_cases || cli->coverage) {
        if (cli->coverage)
            ATTEST_TRY(attest_suite_coverage(stdout, &suite, &gate, &err));
        else
            list_cases(&suite);
        goto out;
    }
    ATTEST_TRY(attest_cli_predictions(&predictions, cli, &suite, &err));
    look.context = predictions;
    code = run_and_tell(&gate, cli, &shard, cases);
out:
    attest_predictions_free(predictions);
    free(cases);
    attest_compact_free(gate.compact);
    attest_libraries_clear(&l);
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

/* TARGET, or --exec COMMAND. */
static attest_status choose_target(char *library, size_t len, const char **kernel, const attest_cli *cli,
                                   attest_error *err)
{
    *kernel = NULL;
    *library = '\0';
    if (cli->exec && cli->argument_count)
        return attest_fail(err, ATTEST_BAD_INPUT, "--exec COMMAND is a target: '%s' is one too many", cli->argument[0]);
    if (!cli->exec && !cli->argument_count)
        return attest_fail(err, ATTEST_BAD_INPUT, "missing argument: TARGET, or --exec COMMAND");
    if (!cli->exec)
        attest_split_target(cli->argument[0], library, len, kernel);
    else if (snprintf(library, len, "exec:%s", cli->exec) >= (int)len)
        return attest_fail(err, ATTEST_BAD_INPUT, "--exec: the command is too long");
    return ATTEST_OK;
}

/* --declare, and --infer for what declares nothing. */
static attest_status assume(attest_plan *plan, const attest_gate *gate, const attest_cli *cli, attest_error *err)
{
    const char *format = cli->options.format ? cli->options.format : "text";
    attest_status status = ATTEST_OK;
    for (size_t k = 0; cli->declare && k < plan->kernel_count; k++)
        ATTEST_TRY(attest_plan_assume(plan, k, cli->declare, err));
    if (cli->infer)
        status = attest_gate_infer(plan, gate, strcmp(format, "text") == 0 && !cli->options.quiet ? stdout : stderr,
                                   err);
out:
    return status == ATTEST_BAD_INPUT ? attest_fail_prefix(err, status, "--declare") : status;
}

int attest_command_audit(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_suite suite = { 0 };
    attest_plan plan = { .library = NULL };
    char library[4096];
    const char *kernel;
    int code = 0;
    status = choose_target(library, sizeof library, &kernel, cli, &err);
    const char *list[1] = { *library ? library : NULL };
    const attest_gate gate = { .options = &cli->options,
                               .suite = &suite,
                               .asked = cli->suite,
                               .plan = &plan,
                               .kernel_glob = kernel,
                               .traits = 1,
                               .tell_coverage = 1,
                               .began = attest_now_seconds() };
    ATTEST_TRY(status);
    ATTEST_TRY(check_words(cli, &err));
    ATTEST_TRY(attest_suite_read(&suite, cli->suite ? cli->suite : "smoke", &err));
    if (cli->out)
        ATTEST_TRY(attest_output_dir(cli->out, &err));
    ATTEST_TRY(make_plan(&plan, &gate, list, 1, &err));
    ATTEST_TRY(assume(&plan, &gate, cli, &err));
    attest_stop_watch();
    if (cli->cover || suite.builtin)
        ATTEST_TRY(attest_suite_cover(&suite, &gate, cli->cover ? (int)cli->cover : 2, 0, &err));
    if (suite.builtin && (strcmp(suite.name, "ci") == 0 || strcmp(suite.name, "full") == 0))
        ATTEST_TRY(attest_suite_cover(&suite, &gate, 2, 1, &err));
    ATTEST_TRY(keep_cases(&suite, cli, &err));
    code = run_and_tell(&gate, cli, &(attest_shard){ 0, 0 }, NULL);
out:
    attest_plan_clear(&plan);
    attest_suite_clear(&suite);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

/* gate_folder.c - where a run ends up: its folder (lock, run.json, results that grow, files), and what is said of it.
 *
 * results.jsonl grows while the run goes, in the order in which results come.  When all cases have run it is replaced,
 * sorted and with the last word on each, in an order that leaves something to resume at every moment:
 * results.jsonl.final is written; run.json says `complete`; results.jsonl.final becomes results.jsonl; the other files
 * are written; run.json says `finished`.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/hash.h"
#include "reports/causes/causes.h"
#include "reports/ci/ci.h"
#include "verify/gate/gate.h"
#include "verify/gate/trust.h"

#define PATH_MOST 4096

static attest_status path_of(char path[PATH_MOST], const char *dir, const char *name, attest_error *err)
{
    if (snprintf(path, PATH_MOST, "%s/%s", dir, name) >= PATH_MOST - 32)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", dir);
    return ATTEST_OK;
}

/* ---- what a run is to do ----------------------------------------------------------------------------------------- */
static void hex(char text[20], uint64_t hash) { snprintf(text, 20, "%016llx", (unsigned long long)hash); }

static const char *or_any(const char *text) { return text ? text : "*"; }

/* Each text once. */
static void add_text(char *all, size_t len, const char *text)
{
    const size_t at = strlen(all);
    if (!strstr(all, text))
        snprintf(all + at, len - at, "%s%s", at > 0 ? " | " : "", text);
}

attest_status attest_gate_note(attest_run_info *info, const char *key, const char *value, attest_error *err)
{
    const size_t at = strlen(info->options), room = sizeof info->options - at;
    return !value || snprintf(info->options + at, room, " %s=%s", key, value) < (int)room
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "--%s: the options of a run take %zu bytes at most together", key,
                             sizeof info->options - 1);
}

attest_status attest_gate_describe(attest_run_info *info, const attest_gate *gate, attest_error *err)
{
    uint64_t cases = ATTEST_FNV_START, kernels = ATTEST_FNV_START;
    attest_status status = ATTEST_OK;
    const char *fail_on = gate->options->fail_on;
    *info = (attest_run_info){ .started = attest_now_seconds(),
                               .cases = (int64_t)gate->suite->case_count,
                               .planned = (int64_t)(gate->suite->case_count * gate->plan->kernel_count) };
    ATTEST_TRY(attest_run_date(info->run, err));
    for (size_t i = 0; i < gate->suite->case_count; i++) {
        const char *line = attest_suite_line(gate->suite, i);
        cases = attest_fnv(cases, line, strlen(line) + 1);
    }
    for (size_t k = 0; k < gate->plan->kernel_count; k++) {
        const attest_plan_kernel *kernel = &gate->plan->kernel[k];
        const char *file = gate->plan->library[kernel->library].file.hash;
        kernels = attest_fnv(attest_fnv(kernels, kernel->name, strlen(kernel->name) + 1), file, strlen(file) + 1);
        add_text(info->device, sizeof info->device, kernel->facts.device);
        add_text(info->flags, sizeof info->flags, kernel->facts.build_flags);
    }
    snprintf(info->tool, sizeof info->tool, "%s", ATTEST_VERSION);
    snprintf(info->suite, sizeof info->suite, "%s", gate->suite->name);
    snprintf(info->fail_on, sizeof info->fail_on, "%s", fail_on ? fail_on : "");
    hex(info->suite_hash, gate->suite->hash);
    hex(info->cases_hash, cases);
    hex(info->kernels_hash, kernels);
    if (snprintf(info->options, sizeof info->options, "kernel=%s device=%s timeout=%.17g typical=%d traits=%d",
                 or_any(gate->kernel_glob), or_any(gate->options->device), gate->options->timeout,
                 gate->options->typical, gate->traits) >= (int)sizeof info->options)
        return attest_fail(err, ATTEST_BAD_INPUT, "--kernel, --device: %zu bytes at most together",
                           sizeof info->options - 64);
    /* Runs without these say nothing of them, as before there was a choice. */
    ATTEST_TRY(attest_gate_note(info, "sandbox", attest_worker_sandbox_asked(), err));
    ATTEST_TRY(attest_gate_note(info, "results", gate->compact ? "compact" : NULL, err));
out:
    return status;
}

/* What must be the same when a run goes on. */
static attest_status compare(const attest_run_info *was, const attest_run_info *is, const char *dir, attest_error *err)
{
    const struct {
        const char *what, *was, *is;
    } all[] = { { "another version of attest", was->tool, is->tool },
                { "another suite", was->suite, is->suite },
                { "another text of the suite", was->suite_hash, is->suite_hash },
                { "other cases", was->cases_hash, is->cases_hash },
                { "other kernels, or other files of theirs", was->kernels_hash, is->kernels_hash },
                { "other options", was->options, is->options },
                { "another shard", was->shard, is->shard },
                { "another device", was->device, is->device },
                { "other build flags, or another instruction set", was->flags, is->flags } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].was, all[i].is) != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "--resume: the run in %s is of %s (%s, now %s)", dir, all[i].what,
                               all[i].was, all[i].is);
    return ATTEST_OK;
}

/* ---- its folder -------------------------------------------------------------------------------------------------- */
/* What a run that was killed left half-written. */
static void remove_temporary(const char *dir)
{
    DIR *folder = opendir(dir);
    char path[PATH_MOST];
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        if (attest_output_is_temporary(entry->d_name) &&
            snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) < (int)sizeof path)
            unlink(path);
    if (folder)
        closedir(folder);
}

/* Of an earlier run in the folder nothing stays: its page would show other results than those that come. */
static void remove_results(const char *dir)
{
    static const char *const names[] = { "results.jsonl", "results.jsonl.final", "results.csv", "junit.xml",
                                         "summary.md",    "trust.json",          "run.json",    "index.html",
                                         "results.sarif", "code-quality.json",   "cases.txt",   "compact.json" };
    char path[PATH_MOST];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (snprintf(path, sizeof path, "%s/%s", dir, names[i]) < (int)sizeof path)
            unlink(path);
}

static void remove_page(const char *dir)
{
    char path[PATH_MOST];
    if (snprintf(path, sizeof path, "%s/index.html", dir) < (int)sizeof path)
        unlink(path);
}

/* The results with a case, in a file of their own that takes the place of results.jsonl and grows on. */
static attest_status copy_results(attest_results *results, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_results old = { 0 };
    attest_result result;
    char fresh[PATH_MOST + 16];
    snprintf(fresh, sizeof fresh, "%s.0000.tmp", path);
    ATTEST_TRY(attest_results_open_part(&old, path, err));
    ATTEST_TRY(attest_results_create(results, fresh, err));
    for (size_t i = 0; i < old.count; i++) {
        ATTEST_TRY(attest_results_get(&result, &old, i, err));
        if (result.problem[0])
            ATTEST_TRY(attest_results_add(results, &result, err));
    }
    if (rename(fresh, path) != 0)
        status = attest_fail(err, ATTEST_IO, "%s: cannot rename into place: %s", path, strerror(errno));
out:
    attest_results_clear(&old);
    return status;
}

static attest_status resume(attest_results *results, attest_run_info *info, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_run_info was;
    char path[PATH_MOST], final[PATH_MOST];
    ATTEST_TRY(path_of(path, dir, "run.json", err));
    if (access(path, F_OK) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--resume: there is no run.json in %s", dir);
    ATTEST_TRY(attest_run_info_read(&was, path, err));
    ATTEST_TRY(compare(&was, info, dir, err));
    ATTEST_TRY(path_of(path, dir, "results.jsonl", err));
    ATTEST_TRY(path_of(final, dir, "results.jsonl.final", err));
    memcpy(info->run, was.run, sizeof info->run);
    if (strcmp(was.fail_on, info->fail_on) != 0) { /* other files, of the same results */
        memcpy(was.fail_on, info->fail_on, sizeof was.fail_on);
        was.finished = 0;
    }
    if (!was.finished) /* a page of the part would stand beside the whole */
        remove_page(dir);
    if (!was.complete) {
        unlink(final);
        return access(path, F_OK) == 0 ? copy_results(results, path, err) : attest_results_create(results, path, err);
    }
    was.started = info->started;
    *info = was;
    if (!was.finished && access(final, F_OK) == 0 && rename(final, path) != 0)
        return attest_fail(err, ATTEST_IO, "%s: cannot rename into place: %s", path, strerror(errno));
    ATTEST_TRY(attest_results_open(results, path, err));
    ATTEST_TRY(attest_run_info_whole(&was, results->count, dir, err));
out:
    return status;
}

attest_status attest_gate_folder_open(int *lock, attest_results *results, attest_run_info *info, const char *dir,
                                      int resumed, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[PATH_MOST];
    *lock = -1;
    ATTEST_TRY(attest_output_lock(lock, dir, err));
    remove_temporary(dir);
    if (resumed) {
        ATTEST_TRY(resume(results, info, dir, err));
    } else {
        remove_results(dir);
        ATTEST_TRY(path_of(path, dir, "results.jsonl", err));
        ATTEST_TRY(attest_results_create(results, path, err));
    }
    if (!info->complete) {
        ATTEST_TRY(path_of(path, dir, "run.json", err));
        ATTEST_TRY(attest_run_info_write(info, path, err));
    }
out:
    return status;
}

/* ---- its files --------------------------------------------------------------------------------------------------- */
/* results.jsonl, and in run.json whether that is the last word. */
static attest_status write_results(const attest_results *results, const attest_run_info *info, const char *dir,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[PATH_MOST], final[PATH_MOST];
    ATTEST_TRY(path_of(path, dir, "results.jsonl", err));
    if (!info->complete)
        return attest_results_write_jsonl(results, path, err);
    ATTEST_TRY(path_of(final, dir, "results.jsonl.final", err));
    ATTEST_TRY(attest_results_write_jsonl(results, final, err));
    ATTEST_TRY(path_of(path, dir, "run.json", err));
    ATTEST_TRY(attest_run_info_write(info, path, err));
    ATTEST_TRY(path_of(path, dir, "results.jsonl", err));
    if (rename(final, path) != 0)
        status = attest_fail(err, ATTEST_IO, "%s: cannot rename into place: %s", path, strerror(errno));
out:
    return status;
}

attest_status attest_gate_close_compact(attest_results *results, attest_whole *whole, const attest_compact *compact,
                                        const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[PATH_MOST];
    if (!compact)
        return ATTEST_OK;
    ATTEST_TRY(attest_compact_whole(whole, compact, err));
    results->whole = whole;
    if (!dir)
        return ATTEST_OK;
    ATTEST_TRY(path_of(path, dir, "compact.json", err));
    ATTEST_TRY(attest_compact_write(compact, path, err));
out:
    return status;
}

/* What is written of all results, by the name of its file. */
typedef struct view {
    const char *name;
    attest_status (*write)(const attest_results *results, const char *path, attest_error *err);
} view;

static attest_status write_view(const view *v, const attest_results *results, const char *dir, attest_error *err)
{
    char path[PATH_MOST];
    attest_status status = path_of(path, dir, v->name, err);
    return status == ATTEST_OK ? v->write(results, path, err) : status;
}

/* All of them, side by side; the first that fails in the order of the table is told. */
static attest_status write_views(const attest_results *results, const char *dir, attest_error *err)
{
    static const view views[] = { { "results.csv", attest_results_write_csv },
                                  { "junit.xml", attest_ci_write_junit },
                                  { "results.sarif", attest_ci_write_sarif },
                                  { "code-quality.json", attest_ci_write_quality } };
    enum { VIEWS = sizeof views / sizeof views[0] };
    attest_status status[VIEWS];
    attest_error why[VIEWS];
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < VIEWS; i++)
        status[i] = write_view(&views[i], results, dir, &why[i]);
    for (int i = 0; i < VIEWS; i++)
        if (status[i] != ATTEST_OK) {
            *err = why[i];
            return status[i];
        }
    return ATTEST_OK;
}

attest_status attest_gate_write_words(const attest_results *results, const attest_run_info *info, const char *dir,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_facts facts = { 0 };
    char path[PATH_MOST];
    ATTEST_TRY(attest_trust_collect(&facts, err));
    ATTEST_TRY(path_of(path, dir, "trust.json", err));
    ATTEST_TRY(attest_facts_write(&facts, path, err));
    ATTEST_TRY(path_of(path, dir, "summary.md", err));
    const attest_results told = attest_results_failing_on(results, info->fail_on);
    ATTEST_TRY(attest_results_write_summary(&told, &facts, info, path, err));
    ATTEST_TRY(path_of(path, dir, "run.json", err));
    remove_page(dir);
    ATTEST_TRY(attest_run_info_write(info, path, err));
out:
    attest_facts_clear(&facts);
    return status;
}

attest_status attest_gate_write(const attest_results *results, attest_run_info *info, const char *dir,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_run_info written = *info;
    written.finished = 0;
    remove_page(dir); /* one that was made while it ran; nor shall one stay that is made from here on */
    ATTEST_TRY(write_results(results, &written, dir, err));
    written.finished = written.complete;
    written.lines = (int64_t)results->count;
    const attest_results told = attest_results_failing_on(results, info->fail_on);
    ATTEST_TRY(write_views(&told, dir, err));
    ATTEST_TRY(attest_gate_write_words(results, &written, dir, err));
    *info = written;
out:
    return status;
}

/* ---- what is said of it ------------------------------------------------------------------------------------------ */
/* What attest_gate_tell() does with each. */
typedef struct telling {
    const char *fail_on;
    int json, strict;
    attest_exit code;
    size_t bad, skipped; /* results whose exit code is not 0: any other, and a skip's */
    int worst;           /* exit code of `first` */
    attest_result first; /* the first of those that failed, crashed or were late, else of those that are bad */
} telling;

/* What is told before what. */
static int grade_of(int code) { return code == 0 ? 0 : code == 77 ? 1 : code == 1 || code == 3 ? 3 : 2; }

static attest_status tell_one(void *state, const attest_result *result, attest_error *err)
{
    telling *t = state;
    const int named = strcmp(attest_verdict_names[result->verdict], t->fail_on) == 0;
    const int code = named ? 4 : attest_result_exit(result, t->strict);
    attest_exit_add(&t->code, code);
    t->bad += grade_of(code) > 1;
    t->skipped += grade_of(code) == 1;
    if (grade_of(code) > grade_of(t->worst)) {
        t->first = *result;
        t->worst = code;
    }
    if (t->json && attest_result_print_json(stdout, result) != ATTEST_OK)
        return attest_print_failed(err, "the results");
    return ATTEST_OK;
}

/* Where GitHub's runner asks for it: annotations, and the summary of the step. */
static attest_status tell_github(const attest_results *results, const attest_run_info *info, attest_error *err)
{
    const char *summary = getenv("GITHUB_STEP_SUMMARY");
    attest_status status = ATTEST_OK;
    attest_run_info told = *info;
    told.finished = told.complete; /* without --out no file says so */
    if (!attest_ci_on_github())
        return ATTEST_OK;
    ATTEST_TRY(attest_ci_print_annotations(stdout, results, err));
    if (summary && *summary)
        ATTEST_TRY(attest_ci_append_summary(summary, results, &told, err));
out:
    return status;
}

/* The terminal's view, with what failures have in common where there are some. */
static attest_status tell_console(const attest_results *results, const attest_run_info *info, int code,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *common = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&common, &length);
    if (!out)
        return attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    if ((code == 1 || code == 3) && !results->whole) /* what passes have not needs all of them */
        status = attest_causes_print(out, results, err);
    if (fclose(out) != 0 && status == ATTEST_OK)
        status = attest_fail(err, ATTEST_NO_MEMORY, "out of memory");
    if (status == ATTEST_OK)
        attest_results_print_console(stdout, results, info, common, attest_want_colour(stdout));
    free(common);
    return status;
}

/* --quiet leaves out what is good, a skip beside passes too: a run that is not says why, in two lines. */
static void tell_quietly(const telling *t)
{
    const size_t count = attest_exit_code(&t->code) == 77 ? t->skipped : t->bad;
    if (count > 0)
        fprintf(stderr, "attest: %zu %s, the first: %s %s %s: %s\n    %s\n", count,
                count == 1 ? "result is not a pass" : "results are no passes", attest_verdict_names[t->first.verdict],
                t->first.kernel, t->first.problem, t->first.why, t->first.reproduction);
}

attest_status attest_gate_tell(int *code, const attest_options *options, const attest_results *results,
                               const attest_run_info *info, attest_error *err)
{
    const char *format = options->format ? options->format : "text";
    const int text = strcmp(format, "text") == 0;
    char banner[256] = "";
    attest_status status = ATTEST_OK;
    telling t = { .fail_on = info->fail_on, .strict = options->strict, .json = strcmp(format, "json") == 0 };
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ tell_one, &t }, 1, err));
    if (*info->ended) {
        attest_run_info_banner(banner, sizeof banner, info, 0);
        attest_exit_add(&t.code, 4);
        fprintf(!text || options->quiet ? stderr : stdout, "%s\n", banner);
    }
    const attest_results told = attest_results_failing_on(results, info->fail_on);
    if (strcmp(format, "tap") == 0)
        ATTEST_TRY(attest_ci_print_tap(stdout, &told, err));
    if (text)
        ATTEST_TRY(tell_github(&told, info, err));
    if (text && !options->quiet)
        ATTEST_TRY(tell_console(&told, info, attest_exit_code(&t.code), err));
    else if (text)
        tell_quietly(&t);
    *code = attest_stop_exit(info->ended);
    if (*code == 0)
        *code = attest_exit_code(&t.code);
out:
    return status;
}

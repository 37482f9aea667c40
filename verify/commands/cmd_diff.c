/* cmd_diff.c - `attest diff A B`, and `attest baseline review|accept|prune DIR`: what changed, and what is accepted. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/diff/diff.h"
#include "verify/commands/cli.h"

int attest_command_diff(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results now = { 0 };
    attest_diff diff = { 0 };
    char unfinished[800];
    int code = 0;
    const char *format = cli->options.format ? cli->options.format : "text";
    if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "--format=%s: text or json", format));
    ATTEST_TRY(attest_diff_open(&now, cli->argument[1], &err));
    ATTEST_TRY(attest_diff_against(&diff, cli->argument[0], &now, &err));
    ATTEST_TRY(attest_diff_partial(diff.partial[1], cli->argument[1], &now, &err));
    ATTEST_TRY(attest_diff_shards(&diff, cli->argument[0], cli->argument[1], &err));
    if (strcmp(format, "json") == 0)
        status = attest_diff_print_json(stdout, &diff) == ATTEST_OK ? ATTEST_OK
                                                                    : attest_print_failed(&err, "the changes");
    else if (!cli->options.quiet)
        attest_diff_print(stdout, &diff, cli->argument[0]);
    attest_diff_unfinished(unfinished, &diff);
    if (*unfinished && cli->options.quiet && strcmp(format, "text") == 0) /* else the last line or object says it */
        fprintf(stderr, "%s%s\n", unfinished, diff.regressions > 0 ? "" : ": exit code 4");
    code = diff.regressions > 0 ? 1 : *unfinished ? 4 : diff.compared == 0 ? 77 : 0;
out:
    attest_diff_clear(&diff);
    attest_results_clear(&now);
    return status == ATTEST_OK ? code : attest_cli_error(cli, status, &err);
}

/* ---- attest baseline --------------------------------------------------------------------------------------------- */
#define DEFAULT_BASELINE "reports/baselines/accepted.jsonl"

typedef enum action { REVIEW, ACCEPT, PRUNE } action;

static attest_status find_action(action *a, const char *name, attest_error *err)
{
    static const char *const names[] = { "review", "accept", "prune" };
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            *a = (action)i;
            return ATTEST_OK;
        }
    return attest_fail(err, ATTEST_BAD_INPUT, "'%.100s': review, accept or prune", name);
}

/* Whoever writes a baseline is a person, and who accepts has a reason. */
static attest_status may_write(const attest_cli *cli, action what, attest_error *err)
{
    const char *ci = getenv("CI");
    if (ci && (strcasecmp(ci, "true") == 0 || strcmp(ci, "1") == 0))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "a baseline is not written where CI=%s: accept it on a machine of a "
                           "person, and commit it",
                           ci);
    if (what == PRUNE)
        return cli->reason
                   ? attest_fail(err, ATTEST_BAD_INPUT, "--reason: of accept; prune writes no line that has one")
                   : ATTEST_OK;
    if (!cli->reason || strspn(cli->reason, " \t") == strlen(cli->reason))
        return attest_fail(err, ATTEST_BAD_INPUT, "--reason=TEXT is missing: why is this accepted?");
    return ATTEST_OK;
}

/* Nobody accepts a failure: a bound is no matter of taste. */
static attest_status no_failed_case(const attest_baseline *fresh, const char *glob, attest_error *err)
{
    for (size_t i = 0; i < fresh->count; i++) {
        const attest_baseline_line *line = &fresh->line[i];
        if (line->failed > 0 && fnmatch(glob, line->kernel, 0) == 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s %s: %lld of %lld cases failed, which no baseline accepts",
                               line->kernel, line->class, (long long)line->failed, (long long)line->cases);
    }
    return ATTEST_OK;
}

/* Nor one of a whole kernel or library: a claim, a property, a crash.  A regression since a baseline is the one failure
 * that accepting is for. */
static attest_status is_no_failure(void *glob, const attest_result *r, attest_error *err)
{
    char reasons[256], name[512];
    attest_diff_kernel(name, r->kernel);
    if (!attest_result_failed(r) || r->reasons == ATTEST_REASON_BASELINE ||
        (fnmatch(glob, name, 0) != 0 && fnmatch(glob, r->kernel, 0) != 0))
        return ATTEST_OK;
    attest_reasons_text(reasons, sizeof reasons, r->reasons);
    return attest_fail(err, ATTEST_BAD_INPUT, "%.200s: %s%s%s%s%.200s, which no baseline accepts", r->kernel,
                       attest_verdict_names[r->verdict], *reasons ? " by " : "", reasons, *r->why ? ": " : "", r->why);
}

static attest_status no_failure(const attest_baseline *fresh, const attest_results *results, const char *glob,
                                attest_error *err)
{
    char pattern[512];
    attest_status status = ATTEST_OK;
    snprintf(pattern, sizeof pattern, "%s", glob);
    ATTEST_TRY(no_failed_case(fresh, glob, err));
    status = attest_results_pass(results, &(attest_accumulator){ is_no_failure, pattern }, 1, err);
out:
    return status;
}

static const attest_baseline_line *find(const attest_baseline *b, const attest_baseline_line *like)
{
    for (size_t i = 0; i < b->count; i++)
        if (attest_baseline_by_name(&b->line[i], like) == 0)
            return &b->line[i];
    return NULL;
}

/* 1: these say the same of the same cases; reasons and dates apart. */
static int same_figures(const attest_baseline_line *a, const attest_baseline_line *b)
{
    return strcmp(a->typed, b->typed) == 0 && json_equal(a->each, b->each) && json_equal(a->known, b->known) &&
           a->failed == b->failed && a->open == b->open && a->left == b->left && a->good == b->good;
}

static void tell_line(char mark, const attest_baseline_line *old, const attest_baseline_line *fresh)
{
    const attest_baseline_line *line = fresh ? fresh : old;
    printf("%c %s %s: %lld cases", mark, line->kernel, line->class, (long long)line->cases);
    if (old && fresh && old->errors > 0 && fresh->errors > 0)
        printf(", error %+.2f bits", fresh->error - old->error);
    if (old && fresh)
        printf(", pass %lld (was %lld)", (long long)fresh->good, (long long)old->good);
    if (old)
        printf("; accepted: %s", old->reason);
    putchar('\n');
}

static int has_kernel(const attest_baseline *b, const char *kernel)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->line[i].kernel, kernel) == 0)
            return 1;
    return 0;
}

/* Makes `to` what the file is to hold: of the kernels wanted the fresh lines (accept), or the old ones that the run
 * still has (prune: of kernels in the run, or those that --kernel names); of the others the old ones.  Tells each line
 * that changes. */
static attest_status combine(attest_baseline *to, size_t *changes, action what, const attest_baseline *old,
                             const attest_baseline *fresh, const char *glob, const attest_cli *cli, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *changes = 0;
    for (size_t i = 0; i < old->count; i++) {
        const attest_baseline_line *now = find(fresh, &old->line[i]);
        const int wanted = fnmatch(glob, old->line[i].kernel, 0) == 0;
        const int known = cli->options.kernel || has_kernel(fresh, old->line[i].kernel);
        if (what == PRUNE && wanted && known && !now) {
            if (!cli->options.quiet)
                tell_line('-', &old->line[i], NULL);
            ++*changes;
            continue;
        }
        const int replaced = what != PRUNE && wanted && now && !same_figures(&old->line[i], now);
        if (replaced && !cli->options.quiet)
            tell_line('~', &old->line[i], now);
        *changes += (size_t)replaced;
        ATTEST_TRY(attest_baseline_add(to, replaced ? now : &old->line[i], err));
    }
    for (size_t i = 0; i < fresh->count && what != PRUNE; i++) {
        if (fnmatch(glob, fresh->line[i].kernel, 0) != 0 || find(old, &fresh->line[i]))
            continue;
        if (!cli->options.quiet)
            tell_line('+', NULL, &fresh->line[i]);
        ++*changes;
        ATTEST_TRY(attest_baseline_add(to, &fresh->line[i], err));
    }
out:
    return status;
}

/* A part of a run is no baseline: it would stand for the whole. */
static attest_status whole_run(const char *dir, attest_error *err)
{
    char path[4096];
    attest_run_info info;
    attest_status status = ATTEST_OK;
    snprintf(path, sizeof path, "%.4000s/run.json", dir);
    if (access(path, F_OK) != 0) /* a file of results alone */
        return ATTEST_OK;
    ATTEST_TRY(attest_run_info_read(&info, path, err));
    if (!info.finished || *info.shard)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s, of which no baseline is made", dir,
                           *info.shard ? "one shard of a run" : "an unfinished run");
out:
    return status;
}

/* The folder of the file, where there is none yet. */
static attest_status make_folder(const char *path, attest_error *err)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path || snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path) >= (int)sizeof dir)
        return ATTEST_OK;
    return attest_output_dir(dir, err);
}

int attest_command_baseline(const attest_cli *cli)
{
    attest_error err = { "" };
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    attest_baseline old = { 0 }, fresh = { 0 }, to = { 0 };
    const char *path = cli->baseline ? cli->baseline : DEFAULT_BASELINE;
    char glob[512];
    size_t changes = 0;
    action what = REVIEW;
    attest_diff_kernel(glob, cli->options.kernel ? cli->options.kernel : "*");
    ATTEST_TRY(find_action(&what, cli->argument[0], &err));
    if (what != REVIEW)
        ATTEST_TRY(may_write(cli, what, &err));
    ATTEST_TRY(whole_run(cli->argument[1], &err));
    ATTEST_TRY(attest_diff_open(&results, cli->argument[1], &err));
    ATTEST_TRY(attest_baseline_of(&fresh, &results, cli->reason ? cli->reason : "", &err));
    if (fresh.count == 0)
        ATTEST_TRY(attest_fail(&err, ATTEST_BAD_INPUT, "%s: no result of a case, of which no baseline is made",
                               cli->argument[1]));
    if (access(path, F_OK) == 0 || what == PRUNE)
        ATTEST_TRY(attest_baseline_read(&old, path, &err));
    if (what == ACCEPT)
        ATTEST_TRY(no_failure(&fresh, &results, glob, &err));
    ATTEST_TRY(combine(&to, &changes, what, &old, &fresh, glob, cli, &err));
    if (to.count > 1) /* none: NULL */
        qsort(to.line, to.count, sizeof *to.line, attest_baseline_by_name);
    if (what != REVIEW && changes > 0) {
        ATTEST_TRY(make_folder(path, &err));
        ATTEST_TRY(attest_baseline_write(&to, path, &err));
    }
    if (!cli->options.quiet)
        fprintf(stderr, "%s: %zu of %zu lines %s\n", path, changes, what == PRUNE ? old.count : to.count,
                what == REVIEW   ? "would change"
                : what == ACCEPT ? "changed"
                                 : "removed");
out:
    attest_baseline_clear(&old);
    attest_baseline_clear(&fresh);
    attest_baseline_clear(&to);
    attest_results_clear(&results);
    return status == ATTEST_OK ? 0 : attest_cli_error(cli, status, &err);
}

/* diff_tell.c - what changed, in words, and in the verdicts of the later run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/compact/compact.h"
#include "reports/diff/diff.h"

const char *const attest_change_names[ATTEST_CHANGE_KINDS] = { "new-failure", "worse-verdict", "error", "jump",
                                                               "better",      "bits",          "speed", "class",
                                                               "cases",       "uncompared" };

/* What run.json says beside the results that PATH names; *has = 0: there is none. */
static attest_status read_info(attest_run_info *info, int *has, const char *path, attest_error *err)
{
    struct stat about;
    char file[4096];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    const size_t dir = folder ? strlen(path) : (size_t)(name - path);
    const int length = snprintf(file, sizeof file, "%.*s%srun.json", (int)dir, path, folder ? "/" : "");
    *has = (folder || strcmp(name, "results.jsonl") == 0) && length < (int)sizeof file && stat(file, &about) == 0;
    return *has ? attest_run_info_read(info, file, err) : ATTEST_OK;
}

attest_status attest_diff_open(attest_results *results, const char *path, attest_error *err)
{
    struct stat about;
    attest_status status = ATTEST_OK;
    attest_run_info info;
    char file[4096], compact[4096];
    const int folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    int has;
    if (snprintf(file, sizeof file, "%s%s", path, folder ? "/results.jsonl" : "") >= (int)sizeof file)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", path);
    if (folder && attest_compact_is(compact, path))
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: its results are compact, case by case there is nothing to compare; make them again "
                           "without --results compact",
                           path);
    ATTEST_TRY(read_info(&info, &has, path, err));
    ATTEST_TRY(attest_results_open(results, file, err));
    if (has)
        ATTEST_TRY(attest_run_info_whole(&info, results->count, path, err));
out:
    return status;
}

attest_status attest_diff_partial(char partial[384], const char *path, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_run_info info;
    attest_overview overview = { 0 };
    char banner[256] = "";
    int has;
    *partial = '\0';
    ATTEST_TRY(read_info(&info, &has, path, err));
    if (!has || info.finished)
        return ATTEST_OK;
    ATTEST_TRY(attest_overview_of(&overview, results, err));
    attest_run_info_banner(banner, sizeof banner, &info, overview.cases);
    snprintf(partial, 384, "%.150s is %.220s", path, banner);
out:
    attest_overview_clear(&overview);
    return status;
}

attest_status attest_diff_shards(attest_diff *diff, const char *then, const char *now, attest_error *err)
{
    const char *path[2] = { then, now };
    attest_run_info info[2] = { 0 };
    attest_status status = ATTEST_OK;
    int has;
    for (int k = 0; k < 2; k++) {
        ATTEST_TRY(read_info(&info[k], &has, path[k], err));
        if (!has)
            info[k].shard[0] = '\0';
    }
    for (int k = 0; k < 2 && strcmp(info[0].shard, info[1].shard) != 0; k++)
        if (*info[k].shard && !*diff->partial[k])
            snprintf(diff->partial[k], sizeof diff->partial[k], "%.150s is shard %s of a run", path[k], info[k].shard);
out:
    return status;
}

void attest_diff_unfinished(char text[800], const attest_diff *diff)
{
    const char *then = diff->partial[0], *now = strcmp(diff->partial[1], then) == 0 ? "" : diff->partial[1];
    snprintf(text, 800, "%s%s%s", then, *then && *now ? "; " : "", now);
}

attest_status attest_diff_readable(const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_results before = { 0 };
    attest_baseline baseline = { 0 };
    if (attest_baseline_is(path)) {
        ATTEST_TRY(attest_baseline_read(&baseline, path, err));
    } else {
        ATTEST_TRY(attest_diff_open(&before, path, err));
        ATTEST_TRY(attest_results_pass(&before, NULL, 0, err));
        if (before.count == 0)
            status = attest_fail(err, ATTEST_BAD_INPUT, "%s: no baseline and no results of a run: it is empty", path);
    }
out:
    attest_baseline_clear(&baseline);
    attest_results_clear(&before);
    return status;
}

attest_status attest_diff_against(attest_diff *diff, const char *path, const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_results before = { 0 };
    attest_baseline baseline = { 0 };
    *diff = (attest_diff){ 0 };
    if (attest_baseline_is(path)) {
        ATTEST_TRY(attest_baseline_read(&baseline, path, err));
        ATTEST_TRY(attest_diff_baseline(diff, &baseline, now, err));
    } else {
        ATTEST_TRY(attest_diff_open(&before, path, err));
        ATTEST_TRY(attest_diff_runs(diff, &before, now, err));
        ATTEST_TRY(attest_diff_partial(diff->partial[0], path, &before, err));
    }
out:
    attest_baseline_clear(&baseline);
    attest_results_clear(&before);
    return status;
}

/* Of the result that a change names: all that says whose it is. */
static attest_result result_of(const attest_result *named, const attest_change *c)
{
    attest_result r;
    attest_result_init(&r);
#define SAME(field) memcpy(r.field, named->field, sizeof r.field)
    SAME(tool), SAME(suite), SAME(suite_hash), SAME(run), SAME(kernel), SAME(kernel_version), SAME(file);
    SAME(file_hash), SAME(flags), SAME(device), SAME(class), SAME(reproduction);
#undef SAME
    r.verdict = ATTEST_FAIL;
    r.reasons = ATTEST_REASON_BASELINE;
    /* All that tells it from another change comes before the first colon: it is its name (ci.h). */
    snprintf(r.why, sizeof r.why, "%s%s%.95s%s%.48s: %.100s", attest_change_names[c->kind], *c->class ? " " : "",
             c->class, *c->where ? " where " : "", c->where, c->text);
    return r;
}

/* A result of the run itself: each file says that it proves nothing about the baseline, and the exit code is 4. */
static attest_status note_no_evidence(attest_results *now, const attest_diff *diff, const char *since,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r, first;
    char unfinished[800];
    attest_diff_unfinished(unfinished, diff);
    attest_result_init(&r);
    if (now->count > 0) {
        ATTEST_TRY(attest_results_get(&first, now, 0, err));
        memcpy(r.suite, first.suite, sizeof r.suite);
        memcpy(r.suite_hash, first.suite_hash, sizeof r.suite_hash);
        memcpy(r.run, first.run, sizeof r.run);
    }
    snprintf(r.kernel, sizeof r.kernel, ATTEST_RESULT_RUN);
    r.verdict = ATTEST_NO_EVIDENCE;
    r.reasons = ATTEST_REASON_BASELINE;
    if (diff->compared == 0)
        snprintf(r.why, sizeof r.why, "no result could be compared with %.180s", since);
    else
        snprintf(r.why, sizeof r.why, "%.250s", unfinished);
    status = attest_results_add(now, &r, err);
out:
    return status;
}

attest_status attest_diff_note(attest_results *now, const attest_diff *diff, const char *since, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result named;
    if (diff->compared == 0 || *diff->partial[0] || *diff->partial[1])
        ATTEST_TRY(note_no_evidence(now, diff, since, err));
    for (size_t i = 0; i < diff->count; i++) {
        const attest_change *c = &diff->change[i];
        if (c->kind >= ATTEST_CHANGE_REGRESSIONS || c->index == SIZE_MAX)
            continue;
        ATTEST_TRY(attest_results_get(&named, now, c->index, err));
        const attest_result r = result_of(&named, c);
        ATTEST_TRY(attest_results_add(now, &r, err));
    }
out:
    return status;
}

static size_t changes_of(const attest_diff *diff, attest_change_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->count; i++)
        count += diff->change[i].kind == (int64_t)kind;
    return count;
}

void attest_diff_headline(char *text, size_t len, const attest_diff *diff, const char *since)
{
    char apart[160] = "", unfinished[800];
    const size_t other = diff->other, uncompared = changes_of(diff, ATTEST_CHANGE_UNCOMPARED);
    const char *of = diff->of_classes ? (other == 1 ? "class" : "classes") : other == 1 ? "result" : "results";
    attest_diff_unfinished(unfinished, diff);
    if (other)
        snprintf(apart, sizeof apart, "; NOT compared, of other cases: %zu %s", other, of);
    if (uncompared)
        snprintf(apart + strlen(apart), sizeof apart - strlen(apart), "; errors NOT compared: %zu %s", uncompared,
                 uncompared == 1 ? "class" : "classes");
    snprintf(text, len, "%zu %s since %.300s, %s%zu results compared%s%s%s", diff->regressions,
             diff->regressions == 1 ? "regression" : "regressions", since,
             diff->compared ? "" : "NOTHING compared: ", diff->compared, apart, *unfinished ? "; " : "", unfinished);
}

void attest_diff_print(FILE *out, const attest_diff *diff, const char *since)
{
    char text[1280];
    for (size_t i = 0; i < diff->count; i++) {
        const attest_change *c = &diff->change[i];
        fprintf(out, "%s%s: %s%s%s: %s\n", c->kind < ATTEST_CHANGE_REGRESSIONS ? "REGRESSION " : "",
                attest_change_names[c->kind], c->kernel, *c->class ? " " : "", c->class, c->text);
        if (*c->problem)
            fprintf(out, "    %s\n", c->problem);
    }
    if (!since)
        return;
    attest_diff_headline(text, sizeof text, diff, since);
    fprintf(out, "%s\n", text);
}

attest_status attest_diff_print_json(FILE *out, const attest_diff *diff)
{
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < diff->count; i++) {
        const attest_change *c = &diff->change[i];
        json_t *object = json_object();
        json_object_set_new(object, "change", attest_json_text(attest_change_names[c->kind]));
        json_object_set_new(object, "regression", json_boolean(c->kind < ATTEST_CHANGE_REGRESSIONS));
        json_object_set_new(object, "kernel", attest_json_text(c->kernel));
        json_object_set_new(object, "class", attest_json_text(c->class));
        json_object_set_new(object, "where", attest_json_text(c->where));
        json_object_set_new(object, "problem", attest_json_text(c->problem));
        json_object_set_new(object, "text", attest_json_text(c->text));
        json_object_set_new(object, "bits", attest_json_number(c->shift));
        ATTEST_TRY(attest_json_line(out, object));
    }
    json_t *all = json_object();
    json_object_set_new(all, "change", json_string("summary"));
    json_object_set_new(all, "regression", json_false()); /* no change: it counts them */
    json_object_set_new(all, "regressions", json_integer((json_int_t)diff->regressions));
    json_object_set_new(all, "compared", json_integer((json_int_t)diff->compared));
    json_object_set_new(all, "other_cases", json_integer((json_int_t)diff->other));
    json_object_set_new(all, "uncompared", json_integer((json_int_t)changes_of(diff, ATTEST_CHANGE_UNCOMPARED)));
    json_object_set_new(all, "then_unfinished", attest_json_text(diff->partial[0]));
    json_object_set_new(all, "now_unfinished", attest_json_text(diff->partial[1]));
    ATTEST_TRY(attest_json_line(out, all));
out:
    return status;
}

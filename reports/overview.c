/* overview.c - tallies of kernels, and the one pass that fills an overview; see overview.h. */
#include "reports/overview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"

void *attest_find_or_add(void **list, size_t *count, size_t *capacity, size_t size,
                         int (*match)(const void *entry, const attest_result *result), const attest_result *result,
                         int *fresh)
{
    *fresh = 0;
    for (size_t k = *count; k-- > 0;) /* results of one kind often come together */
        if (match((char *)*list + k * size, result))
            return (char *)*list + k * size;
    if (*count == *capacity) {
        const size_t grown = *capacity ? 2 * *capacity : 16;
        void *more = realloc(*list, grown * size);
        if (!more)
            return NULL;
        *list = more;
        *capacity = grown;
    }
    *fresh = 1;
    return memset((char *)*list + (*count)++ * size, 0, size);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */
static int is_tally_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_tally *)entry)->kernel, result->kernel) == 0;
}

attest_status attest_tallies_take(attest_tallies *tallies, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = tallies->tally;
    attest_tally *t = attest_find_or_add(&list, &tallies->count, &tallies->capacity, sizeof *t, is_tally_of, result,
                                         &fresh);
    tallies->tally = list;
    if (!t)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", tallies->count + 1);
    if (fresh) {
        memcpy(t->kernel, result->kernel, sizeof t->kernel);
        t->worst_ratio = t->worst_ulp = __builtin_nan("");
    }
    t->cases++;
    t->by_verdict[result->verdict >= 0 && result->verdict < ATTEST_VERDICT_COUNT ? result->verdict : ATTEST_FAIL]++;
    if (result->ratio_hi == result->ratio_hi && !(result->ratio_hi <= t->worst_ratio)) {
        t->worst_ratio = result->ratio_hi;
        memcpy(t->worst_problem, result->problem, sizeof t->worst_problem);
    }
    if (!(result->ulp_hi <= t->worst_ulp) && result->ulp_hi == result->ulp_hi)
        t->worst_ulp = result->ulp_hi;
    if (result->verdict == ATTEST_PASS && result->why[0] && t->notes++ == 0)
        memcpy(t->note, result->why, sizeof t->note);
    return ATTEST_OK;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */
static size_t tally_index(const attest_tallies *tallies, const attest_result *result)
{
    size_t k = tallies->count ? tallies->count - 1 : 0;
    while (k > 0 && strcmp(tallies->tally[k].kernel, result->kernel) != 0)
        k--;
    return k;
}

static attest_status add_place(attest_overview *o, const attest_result *result, attest_error *err)
{
    if (o->count == o->capacity) {
        const size_t capacity = o->capacity ? 2 * o->capacity : 64;
        attest_place *place = realloc(o->place, capacity * sizeof *place);
        if (!place)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the places of %zu results", capacity);
        o->place = place;
        o->capacity = capacity;
    }
    o->place[o->count] = (attest_place){ attest_results_rank_of(o->of, result),
                                         result->ratio_hi == result->ratio_hi ? result->ratio_hi : -1,
                                         tally_index(&o->tallies, result),
                                         o->count,
                                         result->verdict == ATTEST_SKIP && result->problem[0] == '\0',
                                         attest_fnv(ATTEST_FNV_START, result->problem, strlen(result->problem)) };
    o->count++;
    o->regressions += result->verdict == ATTEST_FAIL && result->reasons == ATTEST_REASON_BASELINE;
    return ATTEST_OK;
}

static attest_status add_build(attest_overview *o, const attest_result *result, attest_error *err)
{
    for (size_t k = 0; k < o->builds; k++)
        if (strcmp(o->build[k], result->flags) == 0)
            return ATTEST_OK;
    if (result->flags[0] == '\0')
        return ATTEST_OK;
    char(*build)[160] = realloc(o->build, (o->builds + 1) * sizeof *build);
    if (!build)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu builds", o->builds + 1);
    o->build = build;
    memcpy(build[o->builds++], result->flags, sizeof *build);
    return ATTEST_OK;
}

static attest_status take(void *state, const attest_result *result, attest_error *err)
{
    attest_overview *o = state;
    attest_status status = ATTEST_OK;
    if (o->count == 0) {
        memcpy(o->tool, result->tool, sizeof o->tool);
        memcpy(o->suite, result->suite, sizeof o->suite);
        memcpy(o->suite_hash, result->suite_hash, sizeof o->suite_hash);
        memcpy(o->run, result->run, sizeof o->run);
    }
    ATTEST_TRY(add_build(o, result, err));
    if (o->results > 0) /* counted elsewhere: take_whole() */
        return add_place(o, result, err);
    o->by_verdict[result->verdict]++;
    ATTEST_TRY(attest_tallies_take(&o->tallies, result, err));
    ATTEST_TRY(add_place(o, result, err));
    ATTEST_TRY(attest_signs_take(&o->signs, result, err));
    ATTEST_TRY(attest_powers_take(&o->powers, result, err));
    ATTEST_TRY(attest_classes_take(&o->classes, result, err));
    ATTEST_TRY(attest_warnings_take(&o->warnings, result, err));
out:
    return status;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static attest_status count_cases(attest_overview *o, attest_error *err)
{
    const uint64_t none = attest_fnv(ATTEST_FNV_START, "", 0);
    uint64_t *problem = calloc(o->count + 1, sizeof *problem);
    if (!problem)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the cases of %zu results", o->count);
    for (size_t i = 0; i < o->count; i++)
        problem[i] = o->place[i].problem;
    qsort(problem, o->count, sizeof *problem, by_number);
    for (size_t i = 0; i < o->count; i++)
        o->cases += problem[i] != none && (i == 0 || problem[i] != problem[i - 1]);
    free(problem);
    return ATTEST_OK;
}

/* A copy of `count` entries; NULL: no memory. */
static void *copy_of(const void *list, size_t count, size_t size)
{
    void *copy = calloc(count + 1, size);
    return copy && count ? memcpy(copy, list, count * size) : copy;
}

static attest_status take_whole(attest_overview *o, const attest_whole *w, attest_error *err)
{
    o->results = w->results;
    o->cases = w->cases;
    memcpy(o->by_verdict, w->by_verdict, sizeof o->by_verdict);
    o->tallies = (attest_tallies){ copy_of(w->tallies.tally, w->tallies.count, sizeof(attest_tally)), w->tallies.count,
                                   w->tallies.count };
    o->signs = (attest_signs){ copy_of(w->signs.sign, w->signs.count, sizeof(attest_sign)), w->signs.count,
                               w->signs.count };
    o->powers = (attest_powers){ copy_of(w->powers.power, w->powers.count, sizeof(attest_power)), w->powers.count,
                                 w->powers.count };
    o->classes = (attest_classes){ copy_of(w->classes.figures, w->classes.count, sizeof(attest_class_figures)),
                                   w->classes.count, w->classes.count };
    if (o->tallies.tally && o->signs.sign && o->powers.power && o->classes.figures)
        return ATTEST_OK;
    o->tallies.count = o->signs.count = o->powers.count = o->classes.count = 0;
    return attest_fail(err, ATTEST_NO_MEMORY, "no memory for what the results add up to");
}

void attest_whole_clear(attest_whole *whole)
{
    free(whole->tallies.tally);
    free(whole->signs.sign);
    free(whole->powers.power);
    attest_classes_clear(&whole->classes);
    *whole = (attest_whole){ 0 };
}

attest_status attest_overview_of(attest_overview *overview, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *overview = (attest_overview){ .of = results };
    if (results->whole && results->whole->results > 0) {
        ATTEST_TRY(take_whole(overview, results->whole, err));
        return attest_results_pass(results, &(attest_accumulator){ take, overview }, 1, err);
    }
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, overview }, 1, err));
    overview->results = overview->count;
    ATTEST_TRY(count_cases(overview, err));
    attest_signs_end(&overview->signs);
    attest_classes_end(&overview->classes);
    ATTEST_TRY(attest_warnings_end(&overview->warnings, err));
out:
    return status;
}

void attest_overview_clear(attest_overview *overview)
{
    free(overview->place);
    free(overview->build);
    free(overview->tallies.tally);
    free(overview->signs.sign);
    free(overview->powers.power);
    attest_classes_clear(&overview->classes);
    attest_warnings_clear(&overview->warnings);
    *overview = (attest_overview){ 0 };
}

/* ---- in one line ------------------------------------------------------------------------------------------------- */
const char *const attest_outcome_names[4] = { "PASS", "FAIL", "PARTIAL", "NOTHING JUDGED" };

/* Results that --fail-on makes no passes. */
static size_t named(const attest_overview *o, const attest_run_info *run)
{
    int v = 0;
    while (run && v < ATTEST_VERDICT_COUNT && strcmp(attest_verdict_names[v], run->fail_on) != 0)
        v++;
    return run && v < ATTEST_VERDICT_COUNT ? o->by_verdict[v] : 0;
}

attest_outcome attest_overview_outcome(const attest_overview *o, const attest_run_info *run)
{
    const size_t *n = o->by_verdict;
    if (n[ATTEST_FAIL] + n[ATTEST_CRASH] + n[ATTEST_TIMEOUT])
        return ATTEST_SOME_FAIL;
    if (n[ATTEST_UNDECIDED] + n[ATTEST_PARTIAL] + n[ATTEST_NO_EVIDENCE] + named(o, run) || (run && !run->complete))
        return ATTEST_SOME_OPEN;
    return n[ATTEST_PASS] + n[ATTEST_ILLPOSED] ? ATTEST_ALL_PASS : ATTEST_NONE_JUDGED;
}

/* Appends to a text of `len` bytes. */
static void add(char *text, size_t len, const char *before, size_t count, const char *one, const char *more)
{
    const size_t at = strlen(text);
    snprintf(text + at, len - at, "%s%zu %s", before, count, count == 1 ? one : more);
}

/* Results that stand for cases which were not run. */
static size_t left_of_run(const attest_overview *o)
{
    for (size_t k = 0; k < o->tallies.count; k++)
        if (strcmp(o->tallies.tally[k].kernel, ATTEST_RESULT_RUN) == 0)
            return o->tallies.tally[k].by_verdict[ATTEST_UNDECIDED];
    return 0;
}

/* Behind the counts: why the outcome is not what they say. */
static void add_reasons(char *text, size_t len, const attest_overview *o, const attest_run_info *run)
{
    size_t used = strlen(text);
    if (named(o, run) && attest_overview_outcome(o, run) == ATTEST_SOME_OPEN && used < len)
        used += (size_t)snprintf(text + used, len - used, " (--fail-on=%s)", run->fail_on);
    if ((left_of_run(o) || (run && !run->complete)) && used < len)
        used += (size_t)snprintf(text + used, len - used, ", unfinished");
    if (run && *run->shard && used < len)
        snprintf(text + used, len - used, ", of shard %s alone", run->shard);
}

void attest_headline(char *text, size_t len, const attest_overview *o, const attest_run_info *run)
{
    static const int told[] = { ATTEST_CRASH,       ATTEST_TIMEOUT,  ATTEST_UNDECIDED, ATTEST_PARTIAL,
                                ATTEST_NO_EVIDENCE, ATTEST_ILLPOSED, ATTEST_SKIP };
    const size_t left = left_of_run(o);
    size_t kernels = 0;
    for (size_t k = 0; k < o->tallies.count; k++)
        kernels += o->tallies.tally[k].cases > o->tallies.tally[k].by_verdict[ATTEST_SKIP] &&
                   strcmp(o->tallies.tally[k].kernel, ATTEST_RESULT_RUN) != 0;
    snprintf(text, len, "%s ", attest_outcome_names[attest_overview_outcome(o, run)]);
    add(text, len, "", kernels, "kernel", "kernels");
    add(text, len, ", ", o->cases, "case", "cases");
    add(text, len, ", ", o->results - left, "result", "results");
    add(text, len, ": ", o->by_verdict[ATTEST_FAIL] - o->regressions, "fail", "fail");
    if (o->regressions)
        add(text, len, ", ", o->regressions, "regression", "regressions");
    for (size_t v = 0; v < sizeof told / sizeof told[0]; v++) {
        const char *name = attest_verdict_names[told[v]];
        const size_t count = o->by_verdict[told[v]] - (told[v] == ATTEST_UNDECIDED ? left : 0);
        if (count)
            add(text, len, ", ", count, name, name);
    }
    add_reasons(text, len, o, run);
}

void attest_would_pass_print(FILE *out, const attest_run_info *run, const char *before, const char *after,
                             void (*print)(FILE *out, const char *text))
{
    static const char between[] = " | ";
    char one[sizeof run->would_pass];
    for (const char *at = run ? run->would_pass : ""; *at;) {
        const char *end = strstr(at, between);
        snprintf(one, sizeof one, "%.*s", (int)(end ? (size_t)(end - at) : strlen(at)), at);
        fputs(before, out);
        print(out, one);
        fputs(after, out);
        at = end ? end + sizeof between - 1 : "";
    }
}

void attest_overview_kept(char *text, size_t len, const attest_overview *o)
{
    text[0] = '\0';
    if (o->results > o->count)
        snprintf(text, len,
                 "%zu of %zu results are kept (--results compact): extremes and failures; counts and quantiles are of "
                 "all, warnings are not told",
                 o->count, o->results);
}

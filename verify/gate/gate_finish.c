/* gate_finish.c - what a run knows of its results, and what becomes of them after the last case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/text.h"
#include "verify/gate/gate_private.h"
#include "verify/gate/repeat_checks.h"

/* ---- entries ----------------------------------------------------------------------------------------------------- */
int attest_gate_is_evidence(const attest_result *result)
{
    const int judged = (attest_result_judged_good(result) && result->verdict != ATTEST_NO_EVIDENCE) ||
                       result->verdict == ATTEST_FAIL; /* one that failed shows that a case can */
    const int scores = strcmp(result->update, "add") == 0;
    const int given = strstr(result->problem, " state=draw") != NULL; /* beside it one key is enough */
    return judged && *result->family && !result->family_constant &&
           (given || (scores ? result->range > 0 : result->n > 1 && result->m > 1));
}

static attest_status find_variant(uint32_t *number, attest_gate_state *g, uint32_t kernel, const char *name,
                                  attest_error *err)
{
    for (size_t i = g->variant_count; i-- > 0;)
        if (g->variant[i].kernel == kernel && strcmp(g->variant[i].name, name) == 0) {
            *number = (uint32_t)i;
            return ATTEST_OK;
        }
    attest_gate_variant *grown = realloc(g->variant, (g->variant_count + 1) * sizeof *grown);
    if (!grown)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", g->variant_count + 1);
    g->variant = grown;
    *number = (uint32_t)g->variant_count;
    g->variant[g->variant_count] = (attest_gate_variant){ .kernel = kernel };
    snprintf(g->variant[g->variant_count++].name, sizeof g->variant->name, "%s", name);
    return ATTEST_OK;
}

/* The entry of result number `at`. */
static attest_status add_entry(attest_gate_state *g, size_t at, size_t index, uint32_t kernel,
                               const attest_result *result, attest_error *err)
{
    attest_status status = ATTEST_OK;
    uint32_t variant = 0;
    if (at >= g->capacity) {
        const size_t capacity = g->capacity ? 2 * g->capacity : 64;
        attest_gate_entry *grown = realloc(g->entry, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results", capacity);
        g->entry = grown;
        g->capacity = capacity;
    }
    if (kernel != ATTEST_NO_KERNEL) {
        ATTEST_TRY(find_variant(&variant, g, kernel, result->variant, err));
        g->variant[variant].evidence |= attest_gate_is_evidence(result);
    }
    g->entry[at] = (attest_gate_entry){ (uint32_t)index, kernel, variant, attest_result_judged_good(result) };
out:
    return status;
}

/* An extreme that is in no list yet. */
static attest_status list_result(void *state, const attest_result *result, const attest_compact_mark *mark,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_gate_state *g = state;
    ATTEST_TRY(add_entry(g, g->results->count, mark->index, mark->kernel, result, err));
    ATTEST_TRY(attest_results_add(g->results, result, err));
out:
    return status;
}

/* Counted; listed if it is kept. */
static attest_status add_compact(attest_gate_state *g, size_t index, uint32_t kernel, const attest_result *result,
                                 attest_error *err)
{
    const double none = __builtin_nan("");
    attest_compact_mark mark = { index, kernel, 0, attest_gate_is_evidence(result), none, none };
    attest_status status = ATTEST_OK;
    uint32_t variant;
    int listed;
    if (kernel != ATTEST_NO_KERNEL) {
        attest_case c;
        attest_suite_case(&c, g->gate->suite, index);
        const double work = attest_case_work(&c.problem);
        const int good = attest_result_judged_good(result);
        mark.drawn = attest_gate_is_drawn(g->gate->suite, index);
        mark.small = good && c.problem.n > 1 && c.problem.m > 1 && work <= ATTEST_CALLS_WORK ? work : none;
        mark.large = good && work <= ATTEST_THREADS_WORK ? work : none;
        ATTEST_TRY(find_variant(&variant, g, kernel, result->variant, err));
        g->variant[variant].evidence |= mark.evidence;
    }
    ATTEST_TRY(attest_compact_count(g->gate->compact, result, &mark, err));
    ATTEST_TRY(attest_compact_keep(&listed, g->gate->compact, result, &mark, err));
    if (listed)
        ATTEST_TRY(list_result(g, result, &mark, err));
out:
    return status;
}

attest_status attest_gate_add(attest_gate_state *g, size_t index, uint32_t kernel, attest_result *result,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (g->gate->take)
        return g->gate->take(g->gate->context, index, result, err);
    snprintf(result->run, sizeof result->run, "%s", g->info->run);
    snprintf(result->suite, sizeof result->suite, "%s", g->info->suite);
    snprintf(result->suite_hash, sizeof result->suite_hash, "%s", g->info->suite_hash);
    if (g->gate->compact)
        return add_compact(g, index, kernel, result, err);
    ATTEST_TRY(add_entry(g, g->results->count, index, kernel, result, err));
    ATTEST_TRY(attest_results_add(g->results, result, err));
out:
    return status;
}

/* ---- a run that is resumed --------------------------------------------------------------------------------------- */
typedef struct known_case {
    uint64_t hash; /* of its line */
    size_t index;
} known_case;

static int by_hash(const void *a, const void *b)
{
    const known_case *x = a, *y = b;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static attest_status known_cases(known_case **list, const attest_suite *suite, attest_error *err)
{
    *list = calloc(suite->case_count + 1, sizeof **list);
    if (!*list)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", suite->case_count);
    for (size_t i = 0; i < suite->case_count; i++) {
        const char *line = attest_suite_line(suite, i);
        (*list)[i] = (known_case){ attest_fnv(ATTEST_FNV_START, line, strlen(line)), i };
    }
    qsort(*list, suite->case_count, sizeof **list, by_hash);
    return ATTEST_OK;
}

static size_t kernel_of(const attest_plan *plan, const char *name)
{
    size_t k = 0;
    while (k < plan->kernel_count && strcmp(plan->kernel[k].name, name) != 0)
        k++;
    return k;
}

attest_status attest_gate_take_over(attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    known_case *cases = NULL;
    attest_result result;
    if (g->results->count == 0)
        return ATTEST_OK;
    ATTEST_TRY(known_cases(&cases, g->gate->suite, err));
    for (size_t i = 0; i < g->results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, g->results, i, err));
        const known_case key = { attest_fnv(ATTEST_FNV_START, result.problem, strlen(result.problem)), 0 };
        const known_case *found = bsearch(&key, cases, g->gate->suite->case_count, sizeof *cases, by_hash);
        const size_t k = kernel_of(g->gate->plan, result.kernel);
        if (!found || k == g->gate->plan->kernel_count)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--resume: result %zu, of %s, is of no case of this run",
                                   i + 1, result.kernel));
        if (*attest_gate_ended(g, found->index, k))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "--resume: result %zu, of %s, is the second of its case",
                                   i + 1, result.kernel));
        *attest_gate_ended(g, found->index, k) = 1;
        ATTEST_TRY(add_entry(g, i, found->index, (uint32_t)k, &result, err));
    }
out:
    free(cases);
    return status;
}

/* ---- results without a case -------------------------------------------------------------------------------------- */
attest_status attest_gate_library_failed(attest_gate_state *g, size_t l, const char *why, attest_error *err)
{
    const attest_plan_library *library = &g->gate->plan->library[l];
    char program[512], path[2048];
    attest_result result;
    attest_result_init(&result);
    result.verdict = ATTEST_CRASH;
    attest_text_clean(result.kernel, sizeof result.kernel, library->path ? library->path : "built-in kernels");
    snprintf(result.file_hash, sizeof result.file_hash, "%s", library->file.hash);
    snprintf(result.why, sizeof result.why, "%.250s", why);
    attest_shell_quote(program, sizeof program, g->gate->options->program);
    attest_shell_quote(path, sizeof path, library->path ? library->path : "*");
    snprintf(result.reproduction, sizeof result.reproduction, "%s audit %s", program, path);
    const attest_subject subject = { .timeout = g->gate->options->timeout, .suite = g->gate->asked };
    attest_gate_audit_options(result.reproduction, sizeof result.reproduction, &subject);
    return attest_gate_add(g, g->gate->suite->case_count, ATTEST_NO_KERNEL, &result, err);
}

/* Of one kernel: how many cases of the suite ended, how many it served, the first that it did not, and why not. */
typedef struct coverage {
    size_t served, first, done;
    char why[256];
} coverage;

static coverage coverage_of(const attest_gate_state *g, size_t k)
{
    coverage c = { 0, g->gate->suite->case_count, 0, "" };
    for (size_t i = g->gate->suite->case_count; i-- > 0;) {
        const int served = *attest_gate_ended(g, i, k) == 1;
        c.served += (size_t)served;
        c.done += *attest_gate_ended(g, i, k) != 0;
        c.first = served ? c.first : i;
    }
    return c;
}

static void tell_coverage(const attest_gate_state *g, const coverage *c, size_t k)
{
    const attest_suite *suite = g->gate->suite;
    char rest[64] = "";
    if (c->done < suite->case_count) {
        fprintf(stderr, "%s: %zu of %zu %s of suite %s done, %zu of them served\n", g->gate->plan->kernel[k].name,
                c->done, suite->case_count, attest_plural((int64_t)suite->case_count, "case", "cases"), suite->name,
                c->served);
        return;
    }
    if (*c->why)
        snprintf(rest, sizeof rest, "; of the other %zu the first: ", suite->case_count - c->served);
    fprintf(stderr, "%s: served %zu of the %zu %s of suite %s%s%s\n", g->gate->plan->kernel[k].name, c->served,
            suite->case_count, attest_plural((int64_t)suite->case_count, "case", "cases"), suite->name, rest, c->why);
}

/* A kernel that refused every case gets a result that says so. */
static attest_status add_unserved(attest_gate_state *g, const coverage *c, size_t k, attest_error *err)
{
    const attest_subject subject = attest_gate_subject(g->gate, k);
    attest_result result;
    attest_result_identify(&result, &subject, NULL);
    result.verdict = ATTEST_SKIP;
    if (strstr(c->why, "no device")) /* the device's own reason stays */
        snprintf(result.why, sizeof result.why, "%s", c->why);
    else
        snprintf(result.why, sizeof result.why, "%s no case of suite %s",
                 g->gate->suite->case_count ? "serves" : "this shard has", g->gate->suite->name);
    return attest_gate_add(g, g->gate->suite->case_count, ATTEST_NO_KERNEL, &result, err);
}

/* Why kernel k does not serve a case: the worker of its library is started, once, in *worker. */
static void ask_why(coverage *c, attest_worker **worker, const attest_gate_state *g, size_t k)
{
    const attest_plan_kernel *kernel = &g->gate->plan->kernel[k];
    attest_error err;
    attest_case first;
    if (!*worker &&
        attest_plan_start(worker, g->gate->plan, kernel->library, g->gate->options->timeout, &err) != ATTEST_OK)
        return;
    attest_suite_case(&first, g->gate->suite, c->first);
    attest_worker_supports(*worker, kernel->index, &first.problem, c->why, sizeof c->why);
}

static attest_status add_of_kernels(attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_gate *gate = g->gate;
    attest_worker *worker = NULL;
    for (size_t k = 0; k < gate->plan->kernel_count; k++) {
        const int tell = gate->tell_coverage && !gate->options->quiet;
        coverage c = coverage_of(g, k);
        const int unserved = c.served == 0 && g->info->complete;
        if (k > 0 && gate->plan->kernel[k].library != gate->plan->kernel[k - 1].library) {
            attest_worker_free(worker);
            worker = NULL;
        }
        if ((tell || unserved) && c.first < gate->suite->case_count)
            ask_why(&c, &worker, g, k);
        if (tell)
            tell_coverage(g, &c, k);
        if (unserved)
            ATTEST_TRY(add_unserved(g, &c, k, err));
    }
out:
    attest_worker_free(worker);
    return status;
}

/* Libraries that could not be loaded, kernels that served nothing, and cases that were not run, are results too. */
static attest_status add_leftovers(attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_gate *gate = g->gate;
    for (size_t l = 0; l < gate->plan->library_count; l++)
        if (gate->plan->library[l].failed[0])
            ATTEST_TRY(attest_gate_library_failed(g, l, gate->plan->library[l].failed, err));
    ATTEST_TRY(add_of_kernels(g, err));
    if (*g->info->ended) {
        attest_result result;
        attest_result_init(&result);
        result.verdict = ATTEST_UNDECIDED;
        snprintf(result.kernel, sizeof result.kernel, ATTEST_RESULT_RUN);
        if (g->done < gate->suite->case_count)
            snprintf(result.why, sizeof result.why, "%s: %zu of %zu %s not run", g->info->ended,
                     gate->suite->case_count - g->done, gate->suite->case_count,
                     attest_plural((int64_t)gate->suite->case_count, "case", "cases"));
        else
            snprintf(result.why, sizeof result.why, "%s: not all calls were repeated", g->info->ended);
        ATTEST_TRY(attest_gate_add(g, gate->suite->case_count, ATTEST_NO_KERNEL, &result, err));
    }
out:
    return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */
int attest_gate_no_evidence(attest_result *result)
{
    if (!attest_result_judged_good(result) || result->verdict == ATTEST_NO_EVIDENCE)
        return 0;
    result->verdict = ATTEST_NO_EVIDENCE;
    snprintf(result->why, sizeof result->why,
             "no case of this kernel and variant has a truth that moves with its inputs");
    return 1;
}

/* No judged case of a kernel and variant had a truth that depends on each input: its passes prove nothing; but for
 * drawn cases, whose variants are met by chance. */
static attest_status mark_no_evidence(const attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t i = 0; i < g->results->count; i++) {
        const attest_gate_entry *e = &g->entry[i];
        if (e->kernel == ATTEST_NO_KERNEL || !e->good || g->variant[e->variant].evidence ||
            attest_gate_is_drawn(g->gate->suite, e->of_case))
            continue;
        ATTEST_TRY(attest_results_get(&result, g->results, i, err));
        if (attest_gate_no_evidence(&result))
            ATTEST_TRY(attest_results_replace(g->results, i, &result, err));
    }
    if (g->gate->compact)
        attest_compact_no_evidence(g->gate->compact);
out:
    return status;
}

typedef struct keyed {
    uint32_t of_case, kernel;
    size_t at;
} keyed;

static int by_case(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->of_case != y->of_case)
        return x->of_case < y->of_case ? -1 : 1;
    return x->kernel != y->kernel ? (x->kernel < y->kernel ? -1 : 1) : (x->at > y->at) - (x->at < y->at);
}

/* By case, then by library and kernel. */
static attest_status sort(attest_gate_state *g, attest_error *err)
{
    const size_t count = g->results->count;
    attest_status status = ATTEST_OK;
    keyed *key = calloc(count + 1, sizeof *key);
    size_t *order = calloc(count + 1, sizeof *order);
    attest_gate_entry *entry = calloc(count + 1, sizeof *entry);
    if (!key || !order || !entry)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the order of %zu results", count));
    for (size_t i = 0; i < count; i++)
        key[i] = (keyed){ g->entry[i].of_case, g->entry[i].kernel, i };
    qsort(key, count, sizeof *key, by_case);
    for (size_t i = 0; i < count; i++) {
        order[i] = key[i].at;
        entry[i] = g->entry[key[i].at];
    }
    ATTEST_TRY(attest_results_order(g->results, order, err));
    free(g->entry);
    g->entry = entry;
    g->capacity = count + 1;
    entry = NULL;
out:
    free(key);
    free(order);
    free(entry);
    return status;
}

static int64_t cases_with_result(const attest_gate_state *g)
{
    int64_t cases = 0;
    for (size_t i = 0; i < g->gate->suite->case_count; i++) {
        int some = 0;
        for (size_t k = 0; k < g->gate->plan->kernel_count; k++)
            some |= *attest_gate_ended(g, i, k) == 1;
        cases += some;
    }
    return cases;
}

/* Each pair has ended, and once. */
static attest_status count_pairs(attest_gate_state *g, attest_error *err)
{
    attest_run_info *info = g->info;
    info->done = (int64_t)g->done;
    info->results = info->refused = 0;
    for (size_t i = 0; i < g->gate->suite->case_count * g->gate->plan->kernel_count; i++) {
        info->results += g->ended[i] == 1;
        info->refused += g->ended[i] == 2;
    }
    const int64_t come = g->gate->compact ? attest_compact_total(g->gate->compact)
                                          : (int64_t)g->results->count; /* with a case */
    if (g->gate->compact)
        attest_compact_cases(g->gate->compact, cases_with_result(g));
    if (g->status != ATTEST_OK || *info->ended)
        return ATTEST_OK;
    if (g->twice || info->results + info->refused != info->planned || info->done != info->cases ||
        (!g->gate->take && come != info->results))
        return attest_fail(err, ATTEST_INTERNAL,
                           "of %lld pairs of a kernel and a case %lld ended as a result and %lld as refused, %d twice; "
                           "%lld results have come",
                           (long long)info->planned, (long long)info->results, (long long)info->refused, g->twice,
                           (long long)come);
    info->complete = 1;
    return ATTEST_OK;
}

attest_status attest_gate_finish(attest_gate_state *g, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (g->status != ATTEST_OK && !*g->info->ended)
        snprintf(g->info->ended, sizeof g->info->ended, "error");
    ATTEST_TRY(count_pairs(g, err));
    if (g->gate->take)
        return ATTEST_OK;
    if (g->gate->compact)
        ATTEST_TRY(attest_compact_extremes(g->gate->compact, list_result, g, err));
    ATTEST_TRY(sort(g, err));
    if (g->info->complete && !g->gate->judge)
        ATTEST_TRY(attest_gate_repeats(g, err));
    if (*g->info->ended)
        g->info->complete = 0;
    if (g->info->complete && !*g->info->shard)
        ATTEST_TRY(mark_no_evidence(g, err));
    if (g->status == ATTEST_OK)
        ATTEST_TRY(add_leftovers(g, err));
out:
    if (status != ATTEST_OK)
        g->info->complete = 0;
    return status;
}

/* merge.c - the folders of all shards as one run; see shard.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"
#include "verify/shard/shard_private.h"

/* ---- one shard --------------------------------------------------------------------------------------------------- */
static void part_clear(part *p)
{
    for (size_t i = 0; i < p->cases; i++)
        free(p->of[i].line);
    for (size_t i = 0; i < p->kernels; i++)
        free(p->kernel[i]);
    free(p->of);
    free(p->kernel);
    attest_results_clear(&p->results);
    attest_compact_free(p->compact);
}

static attest_status path_in(char path[4096], const char *dir, const char *name, attest_error *err)
{
    return snprintf(path, 4096, "%s/%s", dir, name) < 4096
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", dir);
}

/* Adds a copy of `text` to a list of texts or cases. */
static char *keep(void **list, size_t count, size_t size, const char *text)
{
    void *grown = realloc(*list, (count + 1) * size);
    if (!grown)
        return NULL;
    *list = grown;
    return strdup(text);
}

static attest_status take_line(part *p, char *line, const char *path, attest_error *err)
{
    size_t index;
    int drawn, at = 0;
    char *text;
    void *list;
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "kernel ", 7) == 0) {
        list = p->kernel;
        text = keep(&list, p->kernels, sizeof *p->kernel, line + 7);
        p->kernel = list;
        if (!text)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s", path);
        p->kernel[p->kernels++] = text;
    } else if (sscanf(line, "case %zu %d %n", &index, &drawn, &at) == 2 && at > 0) {
        list = p->of;
        text = keep(&list, p->cases, sizeof *p->of, line + at);
        p->of = list;
        if (!text)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s", path);
        p->of[p->cases++] = (part_case){ index, drawn, text };
        if (index >= p->whole || shard_of(line + at, p->shard.count) != p->shard.index)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: case %zu is not of this shard", path, index);
    } else {
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: neither kernel nor case: %.60s", path, line);
    }
    return ATTEST_OK;
}

static attest_status read_cases(part *p, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    FILE *in = NULL;
    char line[2048];
    long long index, count;
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    if (!fgets(line, sizeof line, in) ||
        sscanf(line, SHARD_HEAD " %lld %lld %zu %16s", &index, &count, &p->whole, p->whole_hash) != 4 || count < 1 ||
        index < 1 || index > count)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: not the cases of a shard", path));
    p->shard = (attest_shard){ index, count };
    while (fgets(line, sizeof line, in))
        ATTEST_TRY(take_line(p, line, path, err));
out:
    if (in)
        fclose(in);
    return status;
}

static attest_status part_read(part *p, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char path[4096];
    *p = (part){ .dir = dir };
    ATTEST_TRY(path_in(path, dir, "run.json", err));
    if (access(path, F_OK) != 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: there is no run.json in it", dir));
    ATTEST_TRY(attest_run_info_read(&p->info, path, err));
    if (!*p->info.shard)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: its run is no shard (`attest gate --shard I/N`)", dir));
    if (!p->info.finished)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: shard %s did not finish (%s); the same command with "
                               "--resume goes on",
                               dir, p->info.shard, *p->info.ended ? p->info.ended : "killed"));
    ATTEST_TRY(path_in(path, dir, "cases.txt", err));
    ATTEST_TRY(read_cases(p, path, err));
    if (attest_compact_is(path, dir))
        ATTEST_TRY(attest_compact_read(&p->compact, path, err));
    else if ((int64_t)p->cases != p->info.cases)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %zu cases, but its run had %lld", path, p->cases,
                               (long long)p->info.cases));
    ATTEST_TRY(path_in(path, dir, "results.jsonl", err));
    ATTEST_TRY(attest_results_open(&p->results, path, err));
    ATTEST_TRY(attest_run_info_whole(&p->info, p->results.count, dir, err));
out:
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */
static void parts_clear(parts *all)
{
    for (size_t i = 0; i < all->count; i++)
        part_clear(&all->part[i]);
    free(all->part);
}

static attest_status check_same(const part *a, const part *b, attest_error *err)
{
    if (!a->compact != !b->compact)
        return attest_fail(err, ATTEST_BAD_INPUT, "one of %s and %s has compact results, the other all", a->dir,
                           b->dir);
    const struct {
        const char *what, *a, *b;
    } all[] = { { "versions of attest", a->info.tool, b->info.tool },
                { "suites", a->info.suite, b->info.suite },
                { "texts of the suite", a->info.suite_hash, b->info.suite_hash },
                { "cases", a->whole_hash, b->whole_hash },
                { "kernels, or files of theirs", a->info.kernels_hash, b->info.kernels_hash },
                { "options", a->info.options, b->info.options },
                { "devices", a->info.device, b->info.device },
                { "build flags, or instruction sets", a->info.flags, b->info.flags } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].a, all[i].b) != 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s and %s are of different %s (%.100s; %.100s)", a->dir, b->dir,
                               all[i].what, all[i].a, all[i].b);
    if (a->shard.count != b->shard.count)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s is one of %lld shards, %s of %lld", a->dir,
                           (long long)a->shard.count, b->dir, (long long)b->shard.count);
    return ATTEST_OK;
}

static int by_number(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return (x->shard.index > y->shard.index) - (x->shard.index < y->shard.index);
}

/* Each shard is there, once. */
static attest_status check_numbers(const parts *all, attest_error *err)
{
    int64_t cases = 0;
    for (size_t i = 0; i < all->count; i++) {
        const part *p = &all->part[i];
        if (i > 0 && p[-1].shard.index == p->shard.index)
            return attest_fail(err, ATTEST_BAD_INPUT, "shard %lld of %lld is given twice: %s and %s",
                               (long long)p->shard.index, (long long)p->shard.count, p[-1].dir, p->dir);
        if (p->shard.index != (int64_t)i + 1)
            return attest_fail(err, ATTEST_BAD_INPUT, "shard %zu of %lld is missing", i + 1, (long long)p->shard.count);
        cases += p->info.cases;
    }
    const part *last = &all->part[all->count - 1];
    if (last->shard.index != last->shard.count)
        return attest_fail(err, ATTEST_BAD_INPUT, "shard %lld of %lld is missing", (long long)last->shard.index + 1,
                           (long long)last->shard.count);
    if (cases != (int64_t)last->whole)
        return attest_fail(err, ATTEST_BAD_INPUT, "the shards have %lld of %zu cases", (long long)cases, last->whole);
    return ATTEST_OK;
}

static attest_status parts_read(parts *all, const char *const *dirs, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *all = (parts){ .part = calloc(count + 1, sizeof *all->part) };
    if (!all->part)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu shards", count);
    for (size_t i = 0; i < count; i++) {
        all->count++;
        ATTEST_TRY(part_read(&all->part[i], dirs[i], err));
        ATTEST_TRY(check_same(&all->part[0], &all->part[i], err));
    }
    qsort(all->part, count, sizeof *all->part, by_number);
    ATTEST_TRY(check_numbers(all, err));
out:
    if (status != ATTEST_OK) {
        parts_clear(all);
        *all = (parts){ .count = 0 };
    }
    return status;
}

/* As one run would describe itself; its date is that of the first shard to start. */
static attest_run_info info_of(const parts *all)
{
    attest_run_info info = all->part[0].info;
    snprintf(info.cases_hash, sizeof info.cases_hash, "%s", all->part[0].whole_hash);
    info.shard[0] = info.ended[0] = info.would_pass[0] = '\0';
    info.cases = info.done = info.planned = info.results = info.refused = 0;
    info.complete = 1;
    info.finished = 0;
    info.seconds = 0;
    for (size_t i = 0; i < all->count; i++) {
        const attest_run_info *p = &all->part[i].info;
        info.cases += p->cases;
        info.done += p->done;
        info.planned += p->planned;
        info.results += p->results;
        info.refused += p->refused;
        if (!*info.fail_on)
            memcpy(info.fail_on, p->fail_on, sizeof info.fail_on);
        if (strcmp(p->run, info.run) < 0)
            memcpy(info.run, p->run, sizeof info.run);
    }
    return info;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */
/* Where a result lies, and where it goes. */
typedef struct place {
    size_t of_case, kernel, part, at;
    int drawn;
} place;

/* A kernel's variant, and whether some case of it can tell. */
typedef struct told {
    size_t kernel;
    char variant[64];
    int evidence;
} told;

typedef struct merge {
    place *place;
    told *told;
    size_t count, tolds;
} merge;

static attest_status note_evidence(merge *m, size_t kernel, const attest_result *r, attest_error *err)
{
    size_t at = m->tolds;
    while (at > 0 && (m->told[at - 1].kernel != kernel || strcmp(m->told[at - 1].variant, r->variant) != 0))
        at--;
    if (at == 0) {
        told *grown = realloc(m->told, (m->tolds + 1) * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", m->tolds + 1);
        m->told = grown;
        m->told[m->tolds] = (told){ .kernel = kernel };
        memcpy(m->told[m->tolds].variant, r->variant, sizeof r->variant);
        at = ++m->tolds;
    }
    m->told[at - 1].evidence |= attest_gate_is_evidence(r);
    return ATTEST_OK;
}

/* Results of a shard come in the order of its cases, and of a case in that of the kernels. */
static attest_status place_part(merge *m, const part *p, size_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    size_t at = 0, next = 0; /* case, and the first kernel that may come */
    for (size_t i = 0; i < p->results.count; i++) {
        size_t k = 0;
        ATTEST_TRY(attest_results_get(&r, &p->results, i, err));
        if (!*r.problem)
            continue;
        while (k < p->kernels && strcmp(p->kernel[k], r.kernel) != 0)
            k++;
        while (at < p->cases && (strcmp(p->of[at].line, r.problem) != 0 || k < next)) {
            at++;
            next = 0;
        }
        if (at == p->cases || k == p->kernels)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: result %zu, of %s, is of no case of this shard", p->dir,
                                   i + 1, r.kernel));
        next = k + 1;
        m->place[m->count++] = (place){ p->of[at].index, k, number, i, p->of[at].drawn };
        ATTEST_TRY(note_evidence(m, k, &r, err));
    }
out:
    return status;
}

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->of_case != y->of_case)
        return x->of_case < y->of_case ? -1 : 1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static int has_evidence(const merge *m, size_t kernel, const char *variant)
{
    for (size_t i = 0; i < m->tolds; i++)
        if (m->told[i].kernel == kernel && strcmp(m->told[i].variant, variant) == 0)
            return m->told[i].evidence;
    return 0;
}

static attest_status add_placed(attest_results *to, const merge *m, const parts *all, const attest_run_info *info,
                                attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    for (size_t i = 0; i < m->count; i++) {
        const place *p = &m->place[i];
        ATTEST_TRY(attest_results_get(&r, &all->part[p->part].results, p->at, err));
        memcpy(r.run, info->run, sizeof r.run);
        if (!p->drawn && !has_evidence(m, p->kernel, r.variant))
            attest_gate_no_evidence(&r);
        ATTEST_TRY(attest_results_add(to, &r, err));
    }
out:
    return status;
}

/* Is there a result without a case like this one in every other shard? */
static attest_status in_all(int *yes, const parts *all, const attest_result *like, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    *yes = 1;
    for (size_t n = 1; n < all->count && *yes; n++) {
        const attest_results *results = &all->part[n].results;
        *yes = 0;
        for (size_t i = results->count; i-- > 0 && !*yes;) {
            ATTEST_TRY(attest_results_get(&r, results, i, err));
            if (*r.problem)
                break; /* those without a case are the last */
            *yes = r.verdict == like->verdict && strcmp(r.kernel, like->kernel) == 0;
        }
    }
out:
    return status;
}

/* Libraries that could not be loaded, and kernels that served nothing in any shard. */
static attest_status add_others(attest_results *to, attest_compact *whole, const parts *all,
                                const attest_run_info *info, attest_error *err)
{
    const attest_compact_mark mark = { .index = 0 };
    attest_status status = ATTEST_OK;
    const attest_results *first = &all->part[0].results;
    attest_result r;
    int yes;
    for (size_t i = 0; i < first->count; i++) {
        ATTEST_TRY(attest_results_get(&r, first, i, err));
        if (*r.problem)
            continue;
        ATTEST_TRY(in_all(&yes, all, &r, err));
        memcpy(r.run, info->run, sizeof r.run);
        if (yes && whole)
            ATTEST_TRY(attest_compact_count(whole, &r, &mark, err));
        if (yes)
            ATTEST_TRY(attest_results_add(to, &r, err));
    }
out:
    return status;
}

/* The shards, each of their results with its place in the whole run; both are to be cleared whatever the status. */
static attest_status place_all(merge *m, parts *all, attest_run_info *info, const char *const *dirs, size_t count,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t total = 0;
    ATTEST_TRY(parts_read(all, dirs, count, err));
    *info = info_of(all);
    if (all->part[0].compact)
        return ATTEST_OK;
    for (size_t n = 0; n < all->count; n++)
        total += all->part[n].results.count;
    m->place = calloc(total + 1, sizeof *m->place);
    if (!m->place)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results", total));
    for (size_t n = 0; n < all->count; n++)
        ATTEST_TRY(place_part(m, &all->part[n], n, err));
    if ((int64_t)m->count != info->results)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "the shards hold %zu results of cases, their runs had %lld",
                               m->count, (long long)info->results));
    qsort(m->place, m->count, sizeof *m->place, by_place);
out:
    return status;
}

static void place_clear(merge *m, parts *all)
{
    free(m->place);
    free(m->told);
    parts_clear(all);
}

attest_status attest_shard_describe(attest_run_info *info, const char *const *dirs, size_t count, attest_error *err)
{
    parts all = { .count = 0 };
    merge m = { .count = 0 };
    attest_compact *whole = NULL;
    attest_status status = place_all(&m, &all, info, dirs, count, err);
    if (status == ATTEST_OK && all.part[0].compact)
        status = shard_add_counts(&whole, &all, info, err);
    attest_compact_free(whole);
    place_clear(&m, &all);
    return status;
}

attest_status attest_shard_merge(attest_results *results, attest_compact **compact, attest_run_info *info,
                                 const char *const *dirs, size_t count, attest_error *err)
{
    attest_status status = ATTEST_OK;
    parts all = { .count = 0 };
    merge m = { .count = 0 };
    *compact = NULL;
    ATTEST_TRY(place_all(&m, &all, info, dirs, count, err));
    if (all.part[0].compact) {
        ATTEST_TRY(shard_add_counts(compact, &all, info, err));
        ATTEST_TRY(shard_keep(results, *compact, &all, info, err));
    } else {
        ATTEST_TRY(add_placed(results, &m, &all, info, err));
    }
    ATTEST_TRY(add_others(results, *compact, &all, info, err));
out:
    place_clear(&m, &all);
    return status;
}

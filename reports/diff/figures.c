/* figures.c - see figures.h. */
#include "reports/diff/figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"

/* Unit roundoff of the output's type, as bits. */
static int digits_of(const char *out)
{
    static const struct {
        const char *name;
        int digits;
    } types[] = { { "f64", 53 }, { "f32", 24 }, { "f16", 11 }, { "bf16", 8 } };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, out) == 0)
            return types[i].digits;
    return 24;
}

/* log2 of an error that is known, as a baseline's file has it; what is below a thousandth of a rounding is as good as
 * none. */
static float logarithm(double error, double least)
{
    return !(error >= 0) || isinf(error)
               ? NAN
               : (float)fmin(rint(ldexp(log2(fmax(error, least)), 8)) * 0x1p-8, DIFF_EACH_MOST);
}

uint64_t diff_line_hash(const char *problem)
{
    return attest_mix64(attest_fnv(ATTEST_FNV_START, problem, strlen(problem))) >> 16;
}

uint64_t diff_key(const char *kernel, uint64_t line)
{
    return attest_mix64(attest_fnv(attest_fnv(ATTEST_FNV_START, kernel, strlen(kernel)), &line, sizeof line));
}

/* Of sizes their power of two: each element of q and k is drawn by its place, so that 33 keys are the first of 34; sums
 * over most of them err alike. */
static uint64_t draw_of(const attest_result *r)
{
    const int64_t sizes[] = { r->b, r->hq, r->hkv, r->n, r->m, r->d };
    uint64_t hash = attest_fnv(ATTEST_FNV_START, r->family, strlen(r->family) + 1);
    hash = attest_fnv(hash, r->family_argument, strlen(r->family_argument) + 1);
    hash = attest_fnv(hash, r->in, strlen(r->in) + 1);
    hash = attest_fnv(hash, &r->seed, sizeof r->seed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int power = sizes[i] > 0 ? ilogb((double)sizes[i]) : -1;
        hash = attest_fnv(hash, &power, sizeof power);
    }
    return hash;
}

void attest_diff_kernel(char name[512], const char *kernel)
{
    const char *colon = strncmp(kernel, "exec:", 5) == 0 ? NULL : strrchr(kernel, ':'), *own = kernel;
    for (const char *at = kernel; colon && at < colon; at++)
        own = *at == '/' ? at + 1 : own;
    snprintf(name, 512, "%s", own);
}

/* *name: what the kernel goes by. */
static attest_status find_kernel(const char **name, diff_figures *f, const char *typed, attest_error *err)
{
    for (size_t k = f->kernels; k-- > 0;)
        if (strcmp(f->kernel[k].typed, typed) == 0) {
            *name = f->kernel[k].name;
            return ATTEST_OK;
        }
    if (f->kernels == f->kernel_capacity) {
        const size_t capacity = f->kernel_capacity ? 2 * f->kernel_capacity : 16;
        diff_kernel *grown = realloc(f->kernel, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu kernels", capacity);
        f->kernel = grown;
        f->kernel_capacity = capacity;
    }
    diff_kernel *fresh = &f->kernel[f->kernels++];
    snprintf(fresh->typed, sizeof fresh->typed, "%s", typed);
    attest_diff_kernel(fresh->name, typed);
    *name = fresh->name;
    return ATTEST_OK;
}

/* Libraries of one name in two folders: their kernels go by the paths that were given.  1: there are some. */
static int keep_apart(diff_figures *f)
{
    int some = 0;
    for (size_t k = 0; k < f->kernels; k++)
        for (size_t i = 0; i < f->kernels; i++) {
            char name[512];
            attest_diff_kernel(name, f->kernel[i].typed);
            if (i == k || strcmp(name, f->kernel[k].name) != 0)
                continue;
            memcpy(f->kernel[k].name, f->kernel[k].typed, sizeof f->kernel[k].name);
            some = 1;
        }
    return some;
}

attest_status diff_find_group(size_t *number, diff_figures *f, const char *kernel, const char *class, attest_error *err)
{
    for (size_t g = f->groups; g-- > 0;)
        if (strcmp(f->group[g].kernel, kernel) == 0 && strcmp(f->group[g].class, class) == 0) {
            *number = g;
            return ATTEST_OK;
        }
    if (f->groups == f->group_capacity) {
        const size_t capacity = f->group_capacity ? 2 * f->group_capacity : 64;
        diff_group *grown = realloc(f->group, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu classes", capacity);
        f->group = grown;
        f->group_capacity = capacity;
    }
    *number = f->groups;
    snprintf(f->group[f->groups].kernel, sizeof f->group->kernel, "%s", kernel);
    snprintf(f->group[f->groups++].class, sizeof f->group->class, "%s", class);
    return ATTEST_OK;
}

attest_status diff_room(diff_figures *f, attest_error *err)
{
    if (f->count < f->capacity)
        return ATTEST_OK;
    const size_t capacity = f->capacity ? 2 * f->capacity : 256;
    diff_item *grown = realloc(f->item, capacity * sizeof *grown);
    if (!grown)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the figures of %zu results", capacity);
    f->item = grown;
    f->capacity = capacity;
    return ATTEST_OK;
}

/* A result of a whole kernel or library: by its file's name, what failed up to its first colon. */
static attest_status take_whole(diff_figures *f, const attest_result *r, attest_error *err)
{
    const char *slash = strncmp(r->kernel, "exec:", 5) == 0 ? NULL : strrchr(r->kernel, '/');
    const size_t named = r->verdict == ATTEST_FAIL ? strcspn(r->why, ":") : 0;
    char reasons[256];
    if (r->reasons == ATTEST_REASON_BASELINE || strcmp(r->kernel, ATTEST_RESULT_RUN) == 0)
        return ATTEST_OK;
    if (f->wholes == f->whole_capacity) {
        const size_t capacity = f->whole_capacity ? 2 * f->whole_capacity : 16;
        diff_whole *grown = realloc(f->whole, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results of whole kernels", capacity);
        f->whole = grown;
        f->whole_capacity = capacity;
    }
    diff_whole *w = &f->whole[f->wholes++];
    *w = (diff_whole){ .index = f->seen - 1, .failed = attest_result_failed(r) };
    snprintf(w->kernel, sizeof w->kernel, "%s", slash ? slash + 1 : r->kernel);
    attest_reasons_text(reasons, sizeof reasons, r->reasons);
    snprintf(w->text, sizeof w->text, "the whole kernel: %s%s%.40s%s%.110s", attest_verdict_names[r->verdict],
             *reasons ? " by " : "", reasons, *r->why ? ": " : "", r->why);
    w->key = attest_fnv(diff_key(w->kernel, (uint64_t)r->verdict), r->why, named);
    w->key = attest_fnv(w->key, &r->reasons, sizeof r->reasons);
    return ATTEST_OK;
}

static attest_status take(void *state, const attest_result *r, attest_error *err)
{
    diff_figures *f = state;
    attest_status status = ATTEST_OK;
    const char *kernel = "";
    const int judged = attest_result_judged_good(r) || r->verdict == ATTEST_FAIL;
    f->seen++;
    if (*r->problem == '\0')
        return take_whole(f, r, err);
    ATTEST_TRY(diff_room(f, err));
    ATTEST_TRY(find_kernel(&kernel, f, r->kernel, err));
    diff_item *item = &f->item[f->count];
    const uint64_t line = diff_line_hash(r->problem);
    *item = (diff_item){ .key = diff_key(kernel, line),
                         .line = line,
                         .draw = draw_of(r),
                         .bits = (uint32_t)attest_fnv(ATTEST_FNV_START, r->outputs, strlen(r->outputs)),
                         .error = judged ? logarithm(r->norm_error, ldexp(1, -digits_of(r->out) - 10)) : NAN,
                         .typical = judged ? logarithm(r->typical_rms, 0x1p-10) : NAN,
                         .moved = NAN,
                         .above = NAN,
                         .seconds = r->seconds_kernel > 0 ? r->seconds_kernel : 0,
                         .index = f->seen - 1,
                         .verdict = (int8_t)r->verdict,
                         .rank = (int8_t)attest_result_rank(r),
                         .failed = (int8_t)attest_result_failed(r),
                         .digits = (int8_t)digits_of(r->out),
                         .repeats = r->family_constant != 0 };
    diff_ways_of(item, f, r);
    ATTEST_TRY(diff_find_group(&item->group, f, kernel, r->class, err));
    f->count++;
out:
    return status;
}

attest_status diff_collect(diff_figures *figures, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *figures = (diff_figures){ .way = calloc(DIFF_WAYS, sizeof *figures->way),
                               .way_hash = calloc(DIFF_WAYS, sizeof *figures->way_hash) };
    if (!figures->way || !figures->way_hash)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the conditions of cases"));
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, figures }, 1, err));
    if (!keep_apart(figures))
        return ATTEST_OK;
    figures->count = figures->groups = figures->seen = figures->wholes = 0; /* once more, by these names */
    status = attest_results_pass(results, &(attest_accumulator){ take, figures }, 1, err);
out:
    return status;
}

void diff_figures_clear(diff_figures *figures)
{
    free(figures->item);
    free(figures->group);
    free(figures->kernel);
    free(figures->whole);
    free(figures->way);
    free(figures->way_hash);
    *figures = (diff_figures){ .count = 0 };
}

static int by_line(const void *a, const void *b)
{
    const diff_item *x = *(diff_item *const *)a, *y = *(diff_item *const *)b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->index > y->index) - (x->index < y->index);
}

attest_status diff_sorted(diff_item ***item, size_t *count, const diff_figures *figures, size_t group,
                          attest_error *err)
{
    diff_item **list = calloc(figures->count + 1, sizeof *list);
    *item = list;
    *count = 0;
    if (!list)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results of a class", figures->count);
    for (size_t i = 0; i < figures->count; i++)
        if (figures->item[i].group == group)
            list[(*count)++] = &figures->item[i];
    qsort(list, *count, sizeof *list, by_line);
    return ATTEST_OK;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */
attest_change *diff_add(attest_diff *diff, attest_change_kind kind, const diff_group *group, const char *format, ...)
{
    va_list arguments;
    if (diff->count == diff->capacity) {
        const size_t capacity = diff->capacity ? 2 * diff->capacity : 16;
        attest_change *grown = realloc(diff->change, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        diff->change = grown;
        diff->capacity = capacity;
    }
    attest_change *change = &diff->change[diff->count++];
    *change = (attest_change){ .kind = kind, .shift = NAN, .index = SIZE_MAX };
    memcpy(change->kernel, group->kernel, sizeof change->kernel);
    memcpy(change->class, group->class, sizeof change->class);
    va_start(arguments, format);
    vsnprintf(change->text, sizeof change->text, format, arguments);
    va_end(arguments);
    return change;
}

attest_status diff_name_case(attest_change *change, const attest_results *now, size_t index, double shift,
                             attest_error *err)
{
    attest_result r;
    attest_status status = ATTEST_OK;
    if (!change)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    change->shift = shift;
    if (index == SIZE_MAX)
        return ATTEST_OK;
    ATTEST_TRY(attest_results_get(&r, now, index, err));
    memcpy(change->problem, r.problem, sizeof change->problem);
    change->index = index;
out:
    return status;
}

attest_status diff_end(attest_diff *diff, attest_error *err)
{
    attest_change *sorted = calloc(diff->count + 1, sizeof *sorted);
    size_t at = 0;
    if (!sorted)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu changes", diff->count);
    diff->regressions = 0;
    for (int kind = 0; kind < ATTEST_CHANGE_KINDS; kind++)
        for (size_t i = 0; i < diff->count; i++)
            if (diff->change[i].kind == kind)
                sorted[at++] = diff->change[i];
    for (size_t i = 0; i < diff->count; i++)
        diff->regressions += sorted[i].kind < ATTEST_CHANGE_REGRESSIONS;
    free(diff->change);
    diff->change = sorted;
    diff->capacity = diff->count + 1;
    return ATTEST_OK;
}

void attest_diff_clear(attest_diff *diff)
{
    free(diff->change);
    *diff = (attest_diff){ 0 };
}

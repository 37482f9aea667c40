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
static double logarithm(double error, double least)
{
    return !(error >= 0) || isinf(error) ? NAN
                                         : fmin(rint(ldexp(log2(fmax(error, least)), 8)) * 0x1p-8, DIFF_EACH_MOST);
}

static uint64_t hash_of(const char *kernel, const char *problem, size_t length)
{
    return attest_mix64(attest_fnv(attest_fnv(ATTEST_FNV_START, kernel, strlen(kernel) + 1), problem, length));
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

static attest_status find_group(size_t *number, diff_figures *f, const char *kernel, const attest_result *r,
                                attest_error *err)
{
    for (size_t g = f->groups; g-- > 0;)
        if (strcmp(f->group[g].kernel, kernel) == 0 && strcmp(f->group[g].class, r->class) == 0) {
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
    memcpy(f->group[f->groups++].class, r->class, sizeof f->group->class);
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
        return ATTEST_OK;
    if (f->count == f->capacity) {
        const size_t capacity = f->capacity ? 2 * f->capacity : 256;
        diff_item *grown = realloc(f->item, capacity * sizeof *grown);
        if (!grown)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the figures of %zu results", capacity));
        f->item = grown;
        f->capacity = capacity;
    }
    ATTEST_TRY(find_kernel(&kernel, f, r->kernel, err));
    diff_item *item = &f->item[f->count];
    *item = (diff_item){ .key = hash_of(kernel, r->problem, strlen(r->problem)),
                         .line = hash_of("", r->problem, strlen(r->problem)),
                         .bits = attest_fnv(ATTEST_FNV_START, r->outputs, strlen(r->outputs)),
                         .error = judged ? logarithm(r->norm_error, ldexp(1, -digits_of(r->out) - 10)) : NAN,
                         .typical = judged ? logarithm(r->typical_rms, 0x1p-10) : NAN,
                         .seconds = r->seconds_kernel > 0 ? r->seconds_kernel : 0,
                         .index = f->seen - 1,
                         .verdict = r->verdict,
                         .rank = attest_result_rank(r),
                         .failed = attest_result_failed(r),
                         .digits = digits_of(r->out),
                         .repeats = r->family_constant || r->family_repeats };
    ATTEST_TRY(find_group(&item->group, f, kernel, r, err));
    f->count++;
out:
    return status;
}

attest_status diff_collect(diff_figures *figures, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    *figures = (diff_figures){ .count = 0 };
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, figures }, 1, err));
    if (!keep_apart(figures))
        return ATTEST_OK;
    figures->count = figures->groups = figures->seen = 0; /* once more, by these names */
    status = attest_results_pass(results, &(attest_accumulator){ take, figures }, 1, err);
out:
    return status;
}

attest_status diff_hash_typed(attest_baseline_line *line, const diff_figures *figures, size_t group, const char *typed,
                              const attest_results *results, attest_error *err)
{
    uint64_t set = 0, outputs = 0;
    attest_result r;
    for (size_t i = 0; i < figures->count; i++) {
        const diff_item *item = &figures->item[i];
        if (item->group != group)
            continue;
        const attest_status status = attest_results_get(&r, results, item->index, err);
        if (status != ATTEST_OK)
            return status;
        const uint64_t key = hash_of(typed, r.problem, strlen(r.problem));
        set += attest_mix64(key);
        outputs += attest_mix64(key ^ attest_mix64(item->bits));
    }
    snprintf(line->set, sizeof line->set, "%016llx", (unsigned long long)set);
    snprintf(line->outputs, sizeof line->outputs, "%016llx", (unsigned long long)outputs);
    return ATTEST_OK;
}

void diff_figures_clear(diff_figures *figures)
{
    free(figures->item);
    free(figures->group);
    free(figures->kernel);
    *figures = (diff_figures){ .count = 0 };
}

static int by_line(const void *a, const void *b)
{
    const diff_item *x = a, *y = b;
    return x->line != y->line ? (x->line > y->line) - (x->line < y->line)
                              : (x->index > y->index) - (x->index < y->index);
}

attest_status diff_sorted(diff_item **item, size_t *count, const diff_figures *figures, size_t group, attest_error *err)
{
    diff_item *list = calloc(figures->count + 1, sizeof *list);
    *item = list;
    *count = 0;
    if (!list)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results of a class", figures->count);
    for (size_t i = 0; i < figures->count; i++)
        if (figures->item[i].group == group)
            list[(*count)++] = figures->item[i];
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

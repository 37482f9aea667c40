/* baseline.c - what was accepted: of a run, to a file and back, and a run against it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "kernels/text.h"
#include "reports/diff/figures.h"

enum { FORMAT = 1, LINE_MOST = 1 << 16 };

void attest_baseline_clear(attest_baseline *baseline)
{
    free(baseline->line);
    *baseline = (attest_baseline){ 0 };
}

static attest_status add_line(attest_baseline *baseline, const attest_baseline_line *line, attest_error *err)
{
    if (baseline->count == baseline->capacity) {
        const size_t capacity = baseline->capacity ? 2 * baseline->capacity : 64;
        attest_baseline_line *grown = realloc(baseline->line, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu lines of a baseline", capacity);
        baseline->line = grown;
        baseline->capacity = capacity;
    }
    baseline->line[baseline->count++] = *line;
    return ATTEST_OK;
}

static int by_name(const void *a, const void *b)
{
    const attest_baseline_line *x = a, *y = b;
    const int kernels = strcmp(x->kernel, y->kernel);
    return kernels ? kernels : strcmp(x->class, y->class);
}

/* ---- of a run ---------------------------------------------------------------------------------------------------- */
static double mean_of(double sum, int64_t count) { return count > 0 ? sum / (double)count : NAN; }

static attest_baseline_line line_of(const diff_figures *f, size_t group)
{
    attest_baseline_line line = { .noise = diff_noise(f, group) };
    double errors = 0, typicals = 0;
    uint64_t set = 0, outputs = 0; /* sums: the order of the cases does not matter */
    memcpy(line.kernel, f->group[group].kernel, sizeof line.kernel);
    memcpy(line.class, f->group[group].class, sizeof line.class);
    for (size_t i = 0; i < f->count; i++) {
        const diff_item *item = &f->item[i];
        if (item->group != group)
            continue;
        line.cases++;
        line.failed += item->rank <= 1;
        line.open += item->rank == 2;
        line.left += item->rank == 3;
        line.good += item->rank == 4;
        line.errors += isfinite(item->error);
        line.typicals += isfinite(item->typical);
        errors += isfinite(item->error) ? item->error : 0;
        typicals += isfinite(item->typical) ? item->typical : 0;
        set += attest_mix64(item->key);
        outputs += attest_mix64(item->key ^ attest_mix64(item->bits));
    }
    line.error = mean_of(errors, line.errors);
    line.typical = mean_of(typicals, line.typicals);
    snprintf(line.set, sizeof line.set, "%016llx", (unsigned long long)set);
    snprintf(line.outputs, sizeof line.outputs, "%016llx", (unsigned long long)outputs);
    return line;
}

static attest_status lines_of(attest_baseline *baseline, const diff_figures *f, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t g = 0; g < f->groups; g++) {
        const attest_baseline_line line = line_of(f, g);
        ATTEST_TRY(add_line(baseline, &line, err));
    }
out:
    return status;
}

attest_status attest_baseline_of(attest_baseline *baseline, const attest_results *results, const char *reason,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_figures f;
    attest_result first;
    *baseline = (attest_baseline){ 0 };
    ATTEST_TRY(diff_collect(&f, results, err));
    ATTEST_TRY(lines_of(baseline, &f, err));
    if (results->count > 0)
        ATTEST_TRY(attest_results_get(&first, results, 0, err));
    for (size_t i = 0; i < baseline->count; i++) {
        memcpy(baseline->line[i].tool, first.tool, sizeof first.tool);
        memcpy(baseline->line[i].run, first.run, sizeof first.run);
        attest_text_clean(baseline->line[i].reason, sizeof baseline->line[i].reason, reason);
    }
    qsort(baseline->line, baseline->count, sizeof *baseline->line, by_name);
out:
    diff_figures_clear(&f);
    if (status != ATTEST_OK)
        attest_baseline_clear(baseline);
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */
/* Keys of a line, sorted; texts, whole numbers, hex floats. */
static const struct {
    const char *name;
    int type; /* 0 text, 1 whole, 2 hex float */
    size_t offset, size;
} keys[] = {
#define TEXT(key)                                                                                                      \
    {                                                                                                                  \
#key, 0, offsetof(attest_baseline_line, key), sizeof((attest_baseline_line *)0)->key                           \
    }
#define NUMBER(key, type)                                                                                              \
    {                                                                                                                  \
#key, type, offsetof(attest_baseline_line, key), 0                                                             \
    }
    NUMBER(cases, 1), TEXT(class),     NUMBER(error, 2), NUMBER(errors, 1),  NUMBER(failed, 1),  NUMBER(good, 1),
    TEXT(kernel),     NUMBER(left, 1), NUMBER(noise, 2), NUMBER(open, 1),    TEXT(outputs),      TEXT(reason),
    TEXT(run),        TEXT(set),       TEXT(tool),       NUMBER(typical, 2), NUMBER(typicals, 1)
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static json_t *to_json(const attest_baseline_line *line)
{
    json_t *object = json_object();
    for (size_t k = 0; k < KEYS; k++) {
        const char *at = (const char *)line + keys[k].offset;
        char text[64];
        int64_t whole;
        double x;
        if (keys[k].type == 0) {
            json_object_set_new(object, keys[k].name, attest_json_text(at));
        } else if (keys[k].type == 1) {
            memcpy(&whole, at, sizeof whole);
            json_object_set_new(object, keys[k].name, json_integer(whole));
        } else {
            memcpy(&x, at, sizeof x);
            snprintf(text, sizeof text, "%a", x);
            json_object_set_new(object, keys[k].name, isnan(x) ? json_null() : json_string(text));
        }
    }
    return object;
}

attest_status attest_baseline_write(const attest_baseline *baseline, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK && attest_json_line(out.file, json_pack("{s:i}", "attest_baseline", FORMAT)) != ATTEST_OK)
        status = attest_print_failed(err, path);
    for (size_t i = 0; i < baseline->count && status == ATTEST_OK; i++)
        if (attest_json_line(out.file, to_json(&baseline->line[i])) != ATTEST_OK)
            status = attest_print_failed(err, path);
    return attest_output_close(&out, status, err);
}

static int take_key(attest_baseline_line *line, size_t k, const json_t *value)
{
    char *at = (char *)line + keys[k].offset, *end = NULL;
    const char *text = json_string_value(value);
    const int64_t whole = json_integer_value(value);
    const double x = keys[k].type == 2 && text ? strtod(text, &end) : NAN;
    if (keys[k].type == 0 && text && strlen(text) < keys[k].size)
        return attest_text_clean(at, keys[k].size, text), 1;
    if (keys[k].type == 1 && json_is_integer(value) && whole >= 0)
        return memcpy(at, &whole, sizeof whole), 1;
    if (keys[k].type == 2 && (json_is_null(value) || (text && end != text && *end == '\0' && isfinite(x))))
        return memcpy(at, &x, sizeof x), 1;
    return 0;
}

static attest_status take_text(attest_baseline *baseline, const char *text, const char *path, size_t number,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_baseline_line line = { .cases = 0 };
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (number == 1 && json_integer_value(json_object_get(object, "attest_baseline")) != FORMAT)
        ATTEST_TRY(
            attest_fail(err, ATTEST_BAD_INPUT, "%s: no baseline of this version (`attest baseline accept`)", path));
    for (size_t k = 0; k < KEYS && number > 1; k++)
        if (!take_key(&line, k, json_object_get(object, keys[k].name)))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: key '%s' is missing or of another type", path,
                                   number, keys[k].name));
    if (number > 1)
        ATTEST_TRY(add_line(baseline, &line, err));
    if (baseline->count > 1 && by_name(&baseline->line[baseline->count - 2], &line) >= 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: lines are sorted by kernel and class, each once", path,
                               number));
out:
    json_decref(object);
    return status;
}

attest_status attest_baseline_read(attest_baseline *baseline, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    FILE *in = NULL;
    char *text = malloc(LINE_MOST);
    size_t number = 0;
    *baseline = (attest_baseline){ 0 };
    if (!text)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s", path));
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    while (fgets(text, LINE_MOST, in))
        ATTEST_TRY(take_text(baseline, text, path, ++number, err));
    if (number == 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: it is empty", path);
out:
    if (in)
        fclose(in);
    free(text);
    if (status != ATTEST_OK)
        attest_baseline_clear(baseline);
    return status;
}

int attest_baseline_is(const char *path)
{
    char start[24] = "";
    attest_error none;
    FILE *in;
    if (attest_input_stream(&in, NULL, path, &none) != ATTEST_OK)
        return 0;
    const size_t count = fread(start, 1, sizeof start - 1, in);
    fclose(in);
    return count > 0 && strncmp(start, "{\"attest_baseline\":", 19) == 0;
}

/* ---- a run against it -------------------------------------------------------------------------------------------- */
/* The first result of a class at this rank or below it: the one that a change names. */
static size_t first_of(const diff_figures *f, size_t group, int rank)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->item[i].group == group && f->item[i].rank <= rank)
            return f->item[i].index;
    return SIZE_MAX;
}

/* The largest error of a class. */
static size_t largest_of(const diff_figures *f, size_t group)
{
    size_t at = SIZE_MAX;
    for (size_t i = 0; i < f->count; i++)
        if (f->item[i].group == group && isfinite(f->item[i].error) &&
            (at == SIZE_MAX || f->item[i].error > f->item[at].error))
            at = i;
    return at == SIZE_MAX ? at : f->item[at].index;
}

static attest_status name_case(attest_change *change, const attest_results *now, size_t at, double shift,
                               attest_error *err)
{
    attest_result r;
    attest_status status = ATTEST_OK;
    if (!change)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    change->shift = shift;
    if (at == SIZE_MAX)
        return ATTEST_OK;
    ATTEST_TRY(attest_results_get(&r, now, at, err));
    memcpy(change->problem, r.problem, sizeof change->problem);
    change->index = at;
out:
    return status;
}

/* Errors of the same cases: 1 grown, -1 shrunk, 0 within the noise. */
static int beyond_noise(double *shift, double *limit, const attest_baseline_line *then, const attest_baseline_line *is)
{
    const int typical = then->typicals > 0 && then->typicals == is->typicals;
    const int64_t n = typical ? then->typicals : then->errors;
    *shift = typical ? is->typical - then->typical : is->error - then->error;
    *limit = fmax(ATTEST_DIFF_SHIFT, ATTEST_DIFF_DEVIATIONS * M_SQRT2 * fmax(then->noise, is->noise) / sqrt((double)n));
    if (!isfinite(*shift) || (!typical && then->errors != is->errors))
        return 0;
    return *shift >= *limit ? 1 : *shift <= -*limit ? -1 : 0;
}

static attest_status tell_line(attest_diff *diff, const diff_figures *f, size_t group, const attest_baseline_line *then,
                               const attest_baseline_line *is, const attest_results *now, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const diff_group *g = &f->group[group];
    double shift, limit;
    const int beyond = beyond_noise(&shift, &limit, then, is);
    const long long good = (long long)is->good, was = (long long)then->good, cases = (long long)is->cases;
    if (is->failed > then->failed)
        ATTEST_TRY(name_case(diff_add(diff, ATTEST_CHANGE_FAILURE, g, "%lld of %lld cases fail, %lld did",
                                      (long long)is->failed, cases, (long long)then->failed),
                             now, first_of(f, group, 1), NAN, err));
    else if (is->good < then->good)
        ATTEST_TRY(
            name_case(diff_add(diff, ATTEST_CHANGE_VERDICT, g, "%lld of %lld cases pass, %lld did", good, cases, was),
                      now, first_of(f, group, is->open > then->open ? 2 : 3), NAN, err));
    if (beyond > 0)
        ATTEST_TRY(name_case(diff_add(diff, ATTEST_CHANGE_ERROR, g,
                                      "the error grew %.1f times (%.2f bits, limit %.2f, %lld cases)",
                                      DIFF_TIMES(shift), shift, limit, (long long)is->errors),
                             now, largest_of(f, group), shift, err));
    if (is->good > then->good)
        ATTEST_TRY(
            name_case(diff_add(diff, ATTEST_CHANGE_BETTER, g, "%lld of %lld cases pass, %lld did", good, cases, was),
                      now, SIZE_MAX, NAN, err));
    if (beyond < 0)
        ATTEST_TRY(name_case(diff_add(diff, ATTEST_CHANGE_BETTER, g, "the error is %.1f times smaller (%lld cases)",
                                      DIFF_TIMES(shift), (long long)is->errors),
                             now, SIZE_MAX, shift, err));
    if (strcmp(is->outputs, then->outputs) != 0)
        ATTEST_TRY(name_case(diff_add(diff, ATTEST_CHANGE_BITS, g, "other bits"), now, SIZE_MAX, NAN, err));
out:
    return status;
}

static attest_status tell_unknown(attest_diff *diff, const diff_group *group, const attest_baseline_line *then,
                                  const attest_baseline_line *is, attest_error *err)
{
    const int64_t fail = then ? then->failed : 0;
    if (is->failed > fail) /* a failure is one whatever the baseline knows */
        return diff_add(diff, ATTEST_CHANGE_FAILURE, group,
                        "%lld of %lld cases fail, and the baseline is of other cases", (long long)is->failed,
                        (long long)is->cases)
                   ? ATTEST_OK
                   : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
    const int known = then ? diff_add(diff, ATTEST_CHANGE_CASES, group,
                                      "the baseline is of %s cases (%lld, now %lld): review it",
                                      then->cases == is->cases ? "other" : "another number of", (long long)then->cases,
                                      (long long)is->cases) != NULL
                           : diff_add(diff, ATTEST_CHANGE_CASES, group, "not in the baseline (%lld cases): review it",
                                      (long long)is->cases) != NULL;
    return known ? ATTEST_OK : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
}

/* A class that a kernel of this run had, and has no more. */
static attest_status tell_gone(attest_diff *diff, const diff_figures *f, const attest_baseline_line *then,
                               attest_error *err)
{
    diff_group group = { "", "" };
    int kernel = 0;
    for (size_t g = 0; g < f->groups; g++)
        if (strcmp(f->group[g].kernel, then->kernel) == 0) {
            kernel = 1;
            if (strcmp(f->group[g].class, then->class) == 0)
                return ATTEST_OK;
        }
    if (!kernel)
        return ATTEST_OK;
    snprintf(group.kernel, sizeof group.kernel, "%s", then->kernel);
    snprintf(group.class, sizeof group.class, "%s", then->class);
    return diff_add(diff, ATTEST_CHANGE_CASES, &group, "gone: the baseline has %lld cases: review it",
                    (long long)then->cases)
               ? ATTEST_OK
               : attest_fail(err, ATTEST_NO_MEMORY, "no memory for changes");
}

attest_status attest_diff_baseline(attest_diff *diff, const attest_baseline *baseline, const attest_results *now,
                                   attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_figures f;
    *diff = (attest_diff){ 0 };
    ATTEST_TRY(diff_collect(&f, now, err));
    for (size_t g = 0; g < f.groups; g++) {
        const attest_baseline_line is = line_of(&f, g);
        const attest_baseline_line *then = baseline->count
                                               ? bsearch(&is, baseline->line, baseline->count, sizeof is, by_name)
                                               : NULL;
        if (!then || strcmp(then->set, is.set) != 0) {
            ATTEST_TRY(tell_unknown(diff, &f.group[g], then, &is, err));
            continue;
        }
        diff->compared += (size_t)is.cases;
        ATTEST_TRY(tell_line(diff, &f, g, then, &is, now, err));
    }
    for (size_t i = 0; i < baseline->count; i++)
        ATTEST_TRY(tell_gone(diff, &f, &baseline->line[i], err));
    ATTEST_TRY(diff_end(diff, err));
out:
    diff_figures_clear(&f);
    if (status != ATTEST_OK)
        attest_diff_clear(diff);
    return status;
}

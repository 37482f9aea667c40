/* baseline.c - what was accepted: of a run, to a file and back, and a run against it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hash.h"
#include "kernels/input.h"
#include "kernels/text.h"
#include "reports/diff/figures.h"

enum { FORMAT = 4 }; /* 3: without the hashes of each case */

static void line_clear(attest_baseline_line *line)
{
    json_decref(line->known);
    json_decref(line->each);
}

void attest_baseline_clear(attest_baseline *baseline)
{
    for (size_t i = 0; i < baseline->count; i++)
        line_clear(&baseline->line[i]);
    free(baseline->line);
    *baseline = (attest_baseline){ 0 };
}

attest_status attest_baseline_add(attest_baseline *baseline, const attest_baseline_line *line, attest_error *err)
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
    json_incref(line->known);
    json_incref(line->each);
    return ATTEST_OK;
}

int attest_baseline_by_name(const void *a, const void *b)
{
    const attest_baseline_line *x = a, *y = b;
    const int kernels = strcmp(x->kernel, y->kernel);
    return kernels ? kernels : strcmp(x->class, y->class);
}

/* ---- of a run ---------------------------------------------------------------------------------------------------- */
static double mean_of(double sum, int64_t count) { return count > 0 ? sum / (double)count : NAN; }

/* The cases that did not pass: "VERDICT PROBLEM". */
static attest_status known_of(json_t **known, const diff_figures *f, size_t group, const attest_results *results,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result r;
    char text[sizeof r.problem + 32];
    *known = json_array();
    for (size_t i = 0; i < f->count; i++) {
        if (f->item[i].group != group || f->item[i].rank >= DIFF_GOOD)
            continue;
        ATTEST_TRY(attest_results_get(&r, results, f->item[i].index, err));
        snprintf(text, sizeof text, "%s %s", attest_verdict_names[r.verdict], r.problem);
        if (json_array_append_new(*known, attest_json_text(text)) != 0)
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases of a baseline", f->count));
    }
out:
    return status;
}

static attest_status each_of(attest_baseline_line *line, const diff_figures *f, size_t group, attest_error *err)
{
    attest_status status = ATTEST_OK;
    diff_item **item;
    size_t count;
    ATTEST_TRY(diff_sorted(&item, &count, f, group, err));
    line->each = diff_each_of(item, count);
    if (!line->each)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the errors of %zu cases", count));
out:
    free(item);
    return status;
}

/* What a class adds up to, without what is said case by case. */
static attest_baseline_line line_of(const diff_figures *f, size_t group)
{
    attest_baseline_line line = { .cases = 0 };
    double errors = 0, typicals = 0;
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
    }
    line.error = mean_of(errors, line.errors);
    line.typical = mean_of(typicals, line.typicals);
    return line;
}

static attest_status lines_of(attest_baseline *baseline, const diff_figures *f, const attest_results *results,
                              attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t g = 0; g < f->groups && status == ATTEST_OK; g++) {
        attest_baseline_line line = line_of(f, g);
        status = known_of(&line.known, f, g, results, err);
        if (status == ATTEST_OK)
            status = each_of(&line, f, g, err);
        if (status == ATTEST_OK)
            status = attest_baseline_add(baseline, &line, err);
        line_clear(&line);
    }
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
    ATTEST_TRY(lines_of(baseline, &f, results, err));
    if (results->count > 0)
        ATTEST_TRY(attest_results_get(&first, results, 0, err));
    for (size_t i = 0; i < baseline->count; i++) {
        memcpy(baseline->line[i].tool, first.tool, sizeof first.tool);
        memcpy(baseline->line[i].run, first.run, sizeof first.run);
        attest_text_clean(baseline->line[i].reason, sizeof baseline->line[i].reason, reason);
    }
    if (baseline->count > 1) /* none: NULL */
        qsort(baseline->line, baseline->count, sizeof *baseline->line, attest_baseline_by_name);
out:
    diff_figures_clear(&f);
    if (status != ATTEST_OK)
        attest_baseline_clear(baseline);
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */
/* Keys of a line, sorted; texts, whole numbers, hex floats, a list of texts, all cases. */
static const struct {
    const char *name;
    int type; /* 0 text, 1 whole, 2 hex float, 3 list of texts, 4 cases */
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
    NUMBER(cases, 1), TEXT(class),  NUMBER(each, 4),    NUMBER(error, 2),   NUMBER(errors, 1), NUMBER(failed, 1),
    NUMBER(good, 1),  TEXT(kernel), NUMBER(known, 3),   NUMBER(left, 1),    NUMBER(open, 1),   TEXT(reason),
    TEXT(run),        TEXT(tool),   NUMBER(typical, 2), NUMBER(typicals, 1)
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
            const int named_so = keys[k].offset == offsetof(attest_baseline_line, kernel) && *line->typed;
            json_object_set_new(object, keys[k].name, attest_json_text(named_so ? line->typed : at));
        } else if (keys[k].type == 1) {
            memcpy(&whole, at, sizeof whole);
            json_object_set_new(object, keys[k].name, json_integer(whole));
        } else if (keys[k].type >= 3) {
            json_t *value;
            memcpy(&value, at, sizeof value);
            json_object_set(object, keys[k].name, value);
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

static int all_texts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)))
            return 0;
    return json_is_array(value);
}

static int take_key(attest_baseline_line *line, size_t k, json_t *value)
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
    if ((keys[k].type == 3 && all_texts(value)) || (keys[k].type == 4 && diff_each_all(value)))
        return json_incref(value), memcpy(at, &value, sizeof value), 1;
    return 0;
}

static attest_status take_text(attest_baseline *baseline, const char *text, const char *path, size_t number,
                               attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_baseline_line line = { .cases = 0 };
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    if (attest_starved())
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path));
    if (number == 1 && json_integer_value(json_object_get(object, "attest_baseline")) != FORMAT)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: no baseline of this version (%d): move it away, and `attest baseline accept` a run",
                               path, FORMAT));
    for (size_t k = 0; k < KEYS && number > 1; k++)
        if (!take_key(&line, k, json_object_get(object, keys[k].name)))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: key '%s' is missing or of another type", path,
                                   number, keys[k].name));
    if (number > 1 && diff_each_count(line.each) != line.cases)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: key 'each' is not of %lld cases", path, number,
                               (long long)line.cases));
    for (size_t i = 0; i < baseline->count && number > 1; i++)
        if (attest_baseline_by_name(&baseline->line[i], &line) == 0)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: %s %s is there twice", path, number, line.kernel,
                                   line.class));
    if (number > 1)
        ATTEST_TRY(attest_baseline_add(baseline, &line, err));
out:
    json_decref(object);
    line_clear(&line);
    return status;
}

/* Another path in the file has this last part, too. */
static int is_shared(const attest_baseline *baseline, const char *path, const char *name)
{
    for (size_t i = 0; i < baseline->count; i++) {
        char other[512];
        const attest_baseline_line *l = &baseline->line[i];
        const char *typed = *l->typed ? l->typed : l->kernel;
        attest_diff_kernel(other, typed);
        if (strcmp(other, name) == 0 && strcmp(typed, path) != 0)
            return 1;
    }
    return 0;
}

/* Lines whose kernel goes by a path go by its last part, unless that names two. */
static void take_names(attest_baseline *baseline)
{
    for (size_t i = 0; i < baseline->count; i++) {
        char name[512];
        attest_baseline_line *line = &baseline->line[i];
        attest_diff_kernel(name, line->kernel);
        if (strcmp(name, line->kernel) == 0 || is_shared(baseline, line->kernel, name))
            continue;
        memcpy(line->typed, line->kernel, sizeof line->typed);
        memcpy(line->kernel, name, sizeof line->kernel);
    }
    if (baseline->count > 0)
        qsort(baseline->line, baseline->count, sizeof *baseline->line, attest_baseline_by_name);
}

attest_status attest_baseline_read(attest_baseline *baseline, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    FILE *in = NULL;
    char *text = NULL;
    size_t number = 0, size = 0;
    *baseline = (attest_baseline){ 0 };
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    while (getline(&text, &size, in) > 0)
        ATTEST_TRY(take_text(baseline, text, path, ++number, err));
    ATTEST_TRY(attest_input_ended(in, path, err));
    if (number == 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: it is empty", path);
    take_names(baseline);
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

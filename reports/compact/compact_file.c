/* compact_file.c - compact.json: one object, the counts of each kernel and variant and of each kernel and class. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/text.h"
#include "reports/compact/compact_private.h"
#include "reports/files/json_file.h"

#define SCHEMA "attest-compact-1"

typedef enum kind { TEXT, COUNT, REAL, HISTOGRAM } kind;

/* count: of a text its bytes, else the length of the array. */
typedef struct field {
    const char *name;
    kind kind;
    size_t offset, count;
} field;

#define TEXT_OF(type, name)                                                                                            \
    {                                                                                                                  \
#name, TEXT, offsetof(type, name), sizeof((type *)0)->name                                                     \
    }
#define COUNT_OF(type, name, count)                                                                                    \
    {                                                                                                                  \
#name, COUNT, offsetof(type, name), count                                                                      \
    }
#define REAL_OF(type, name, count)                                                                                     \
    {                                                                                                                  \
#name, REAL, offsetof(type, name), count                                                                       \
    }
#define BINS_OF(type, name)                                                                                            \
    {                                                                                                                  \
#name, HISTOGRAM, offsetof(type, name), BINS                                                                   \
    }

static const field of_variant[] = {
    TEXT_OF(compact_variant, kernel),
    TEXT_OF(compact_variant, variant),
    COUNT_OF(compact_variant, drawn, 1),
    COUNT_OF(compact_variant, evidence, 1),
    COUNT_OF(compact_variant, verdict, ATTEST_VERDICT_COUNT),
    REAL_OF(compact_variant, worst_ratio, 1),
    REAL_OF(compact_variant, worst_ulp, 1),
    TEXT_OF(compact_variant, worst_problem),
    COUNT_OF(compact_variant, notes, 1),
    TEXT_OF(compact_variant, note),
    COUNT_OF(compact_variant, judged, 1),
    COUNT_OF(compact_variant, rows, 1),
    COUNT_OF(compact_variant, negative_weight, 1),
    COUNT_OF(compact_variant, negative_sum, 1),
    COUNT_OF(compact_variant, vanishing, 1),
    COUNT_OF(compact_variant, powered, 1),
    COUNT_OF(compact_variant, keyed, 1),
    REAL_OF(compact_variant, telling, 1),
    REAL_OF(compact_variant, keys_seen, 1),
};

static const field of_class[] = {
    TEXT_OF(compact_class, kernel),
    TEXT_OF(compact_class, class),
    COUNT_OF(compact_class, cases, 1),
    COUNT_OF(compact_class, middles, 1),
    COUNT_OF(compact_class, shared, 1),
    REAL_OF(compact_class, largest, 1),
    REAL_OF(compact_class, share, ATTEST_BOUND_TERMS),
    BINS_OF(compact_class, ratio),
    BINS_OF(compact_class, middle),
    BINS_OF(compact_class, noticed),
};

/* ---- out --------------------------------------------------------------------------------------------------------- */
static json_t *numbers_to_json(const field *f, const void *at)
{
    json_t *array = json_array();
    for (size_t i = 0; i < f->count; i++) {
        const double real = f->kind == REAL ? ((const double *)at)[i] : 0;
        const int64_t count = f->kind == REAL ? 0 : ((const int64_t *)at)[i];
        if (f->kind == HISTOGRAM && count > 0) /* bin and count */
            json_array_append_new(array, json_pack("[I, I]", (json_int_t)i, (json_int_t)count));
        else if (f->kind != HISTOGRAM)
            json_array_append_new(array, f->kind == REAL ? attest_json_number(real) : json_integer(count));
    }
    return array;
}

static json_t *list_to_json(const field *fields, size_t count, const void *list, size_t entries, size_t size)
{
    json_t *array = json_array();
    for (size_t i = 0; i < entries; i++) {
        const char *entry = (const char *)list + i * size;
        json_t *object = json_object();
        for (size_t k = 0; k < count; k++) {
            const field *f = &fields[k];
            json_object_set_new(object, f->name,
                                f->kind == TEXT ? attest_json_text(entry + f->offset)
                                                : numbers_to_json(f, entry + f->offset));
        }
        json_array_append_new(array, object);
    }
    return array;
}

attest_status attest_compact_write(const attest_compact *c, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK)
        status = attest_json_line(out.file, json_pack("{s:s, s:I, s:o, s:o}", "schema", SCHEMA, "cases",
                                                      (json_int_t)c->cases, "variants",
                                                      list_to_json(of_variant, sizeof of_variant / sizeof of_variant[0],
                                                                   c->variant, c->variants, sizeof *c->variant),
                                                      "classes",
                                                      list_to_json(of_class, sizeof of_class / sizeof of_class[0],
                                                                   c->class, c->classes, sizeof *c->class)));
    if (status == ATTEST_IO)
        status = attest_print_failed(err, path);
    else if (status == ATTEST_NO_MEMORY)
        status = attest_fail(err, status, "no memory for %s", path);
    return attest_output_close(&out, status, err);
}

/* ---- in ---------------------------------------------------------------------------------------------------------- */
/* Counts of many runs are added up: none of them may be near the end of the type. */
static int read_count(int64_t *n, const json_t *value)
{
    *n = json_integer_value(value);
    return json_is_integer(value) && *n >= 0 && *n <= (int64_t)1 << 53;
}

static int read_real(double *x, const json_t *value)
{
    const char *text = json_string_value(value);
    *x = json_is_null(value) ? NAN : text ? HUGE_VAL : json_number_value(value);
    return json_is_null(value) || json_is_number(value) || (text && strcmp(text, "inf") == 0);
}

static int read_bins(int64_t *bins, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *pair = json_array_get(array, i);
        int64_t bin, count;
        if (json_array_size(pair) != 2 || !read_count(&bin, json_array_get(pair, 0)) ||
            !read_count(&count, json_array_get(pair, 1)) || bin >= BINS || bins[bin] > 0)
            return 0; /* each bin once */
        bins[bin] = count;
    }
    return json_is_array(array);
}

static int read_field(char *at, const field *f, const json_t *value)
{
    const char *text = json_string_value(value);
    if (f->kind == TEXT)
        return text && strlen(text) < f->count && (attest_text_clean(at, f->count, text), 1);
    if (f->kind == HISTOGRAM)
        return read_bins((int64_t *)(void *)at, value);
    int good = json_array_size(value) == f->count;
    for (size_t i = 0; i < f->count && good; i++)
        good = f->kind == REAL ? read_real((double *)(void *)at + i, json_array_get(value, i))
                               : read_count((int64_t *)(void *)at + i, json_array_get(value, i));
    return good;
}

/* *list is malloc'd. */
static attest_status read_list(void **list, size_t *entries, size_t size, const field *fields, size_t count,
                               const json_t *array, const char *path, attest_error *err)
{
    const size_t n = json_array_size(array);
    if (!json_is_array(array))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: no compact results", path);
    if (!(*list = calloc(n + 1, size)))
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %s", path);
    for (*entries = 0; *entries < n; (*entries)++)
        for (size_t k = 0; k < count; k++)
            if (!read_field((char *)*list + *entries * size + fields[k].offset, &fields[k],
                            json_object_get(json_array_get(array, *entries), fields[k].name)))
                return attest_fail(err, ATTEST_BAD_INPUT, "%s: entry %zu: field '%s' is missing or of another type",
                                   path, *entries + 1, fields[k].name);
    return ATTEST_OK;
}

attest_status attest_compact_read(attest_compact **compact, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    json_t *object = NULL;
    void *list = NULL;
    ATTEST_TRY(attest_compact_new(compact, err));
    attest_compact *c = *compact;
    ATTEST_TRY(attest_json_read(&object, path, err));
    const char *schema = json_string_value(json_object_get(object, "schema"));
    if (!schema || strcmp(schema, SCHEMA) != 0 || !read_count(&c->cases, json_object_get(object, "cases")))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: not of schema " SCHEMA, path));
    status = read_list(&list, &c->variants, sizeof *c->variant, of_variant, sizeof of_variant / sizeof of_variant[0],
                       json_object_get(object, "variants"), path, err);
    c->variant = list;
    c->variant_capacity = c->variants;
    if (status != ATTEST_OK)
        goto out;
    list = NULL;
    status = read_list(&list, &c->classes, sizeof *c->class, of_class, sizeof of_class / sizeof of_class[0],
                       json_object_get(object, "classes"), path, err);
    c->class = list;
    c->class_capacity = c->classes;
out:
    json_decref(object);
    if (status != ATTEST_OK) {
        attest_compact_free(*compact);
        *compact = NULL;
    }
    return status;
}

int attest_compact_is(char path[4096], const char *dir)
{
    return snprintf(path, 4096, "%s/compact.json", dir) < 4096 && access(path, F_OK) == 0;
}

/* results_files.c - one result as a line of JSON and back; the table of all of them as CSV. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/text.h"
#include "reports/files/output.h"
#include "reports/files/json.h"
#include "reports/results.h"
#include "reports/table.h"

/* ---- JSON lines, out --------------------------------------------------------------------------------------------- */
/* A real is {"hex": "0x1.8p+1", "dec": 3.0}; an infinity has "dec": "inf"; NaN is null. */
static json_t *real_to_json(double x)
{
    char hex[40];
    if (x != x)
        return json_null();
    snprintf(hex, sizeof hex, "%a", x);
    return json_pack("{s:s, s:o}", "hex", hex, "dec", x - x != 0 ? attest_json_number(x) : json_real(x));
}

static json_t *field_to_json(const attest_result *result, const attest_field *field)
{
    char text[1024];
    switch (field->type) {
    case ATTEST_FIELD_REAL: return real_to_json(attest_field_real(result, field));
    case ATTEST_FIELD_INT: return json_integer(attest_field_int(result, field));
    case ATTEST_FIELD_TEXT: return attest_json_text((const char *)result + field->offset);
    default: attest_field_text(text, sizeof text, result, field); return json_string(text);
    }
}

static json_t *result_to_json(const attest_result *result)
{
    json_t *object = json_object();
    for (size_t f = 0; f < attest_result_field_count; f++) {
        json_object_set_new(object, attest_result_fields[f].name, field_to_json(result, &attest_result_fields[f]));
        if (attest_result_fields[f].offset == offsetof(attest_result, ratio_hi))
            json_object_set_new(object, "ratio", attest_json_pair(result->ratio_lo, result->ratio_hi));
    }
    return object;
}

attest_status attest_result_print_json(FILE *out, const attest_result *result)
{
    return attest_json_line(out, result_to_json(result));
}

char *attest_result_json(const attest_result *result) { return attest_json_dump(result_to_json(result)); }

/* ---- JSON lines, in ---------------------------------------------------------------------------------------------- */
/* -1 if no name of the list equals `text`. */
static int64_t name_index(const char *const *names, int count, const char *text, size_t len)
{
    for (int i = 0; i < count; i++)
        if (strlen(names[i]) == len && strncmp(names[i], text, len) == 0)
            return i;
    return -1;
}

/* A set of reasons from `bound,lse`; -1 if a name is unknown. */
static int64_t reasons_from_text(const char *text)
{
    int64_t set = 0;
    while (*text) {
        const size_t len = strcspn(text, ",");
        const int64_t bit = name_index(attest_reason_names, ATTEST_REASON_COUNT, text, len);
        if (bit < 0)
            return -1;
        set |= (int64_t)1 << bit;
        text += len + (text[len] == ',');
    }
    return set;
}

/* Stores one JSON value into the field; 0 if it does not fit the field's type. */
static int field_from_json(attest_result *result, const attest_field *f, const json_t *value)
{
    char *at = (char *)result + f->offset;
    double x = __builtin_nan("");
    int64_t n = 0;
    const char *text = json_string_value(value);
    switch (f->type) {
    case ATTEST_FIELD_REAL:
        if (!json_is_null(value)) {
            const char *hex = json_string_value(json_object_get(value, "hex"));
            char *end = NULL;
            x = hex ? strtod(hex, &end) : x;
            if (!hex || *end)
                return 0;
        }
        memcpy(at, &x, sizeof x);
        return 1;
    case ATTEST_FIELD_INT:
        if (!json_is_integer(value))
            return 0;
        n = json_integer_value(value);
        break;
    case ATTEST_FIELD_TEXT: return text && strlen(text) < f->size && (attest_text_clean(at, f->size, text), 1);
    default:
        n = !text ? -1
            : f->type == ATTEST_FIELD_REASONS
                ? reasons_from_text(text)
                : name_index(attest_verdict_names, ATTEST_VERDICT_COUNT, text, strlen(text));
        if (n < 0)
            return 0;
    }
    memcpy(at, &n, sizeof n);
    return 1;
}

static attest_status read_object(attest_result *result, const json_t *object, const char *where, attest_error *err)
{
    const json_t *schema = json_object_get(object, attest_result_fields[0].name);
    attest_result_init(result);
    if (!json_is_object(object))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: not a JSON object", where);
    if (json_is_integer(schema) && json_integer_value(schema) != ATTEST_RESULT_SCHEMA)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: results of schema %lld, this version reads %d: make them again "
                           "(`attest gate --out DIR`, `attest study NAME --out DIR`)",
                           where, (long long)json_integer_value(schema), ATTEST_RESULT_SCHEMA);
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        const json_t *value = json_object_get(object, f->name);
        if (!value || !field_from_json(result, f, value))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: field '%s' is missing or of another type", where, f->name);
    }
    return ATTEST_OK;
}

attest_status attest_result_parse_json(attest_result *result, const char *text, const char *where, attest_error *err)
{
    json_error_t problem;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    const attest_status status = attest_starved()
                                     ? attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", where)
                                 : object ? read_object(result, object, where, err)
                                          : attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", where, problem.text);
    json_decref(object);
    return status;
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */
/* Two columns for a real, `heads` holds the names of the second ones. */
static size_t csv_columns(attest_column *column, char (*heads)[40])
{
    size_t count = 0;
    for (size_t f = 0; f < attest_result_field_count; f++) {
        column[count++] = (attest_column){ .head = attest_result_fields[f].name };
        if (attest_result_fields[f].type != ATTEST_FIELD_REAL)
            continue;
        snprintf(heads[f], sizeof heads[f], "%s_hex", attest_result_fields[f].name);
        column[count++] = (attest_column){ .head = heads[f] };
    }
    return count;
}

static void csv_row(attest_table *table, const attest_result *result)
{
    for (size_t f = 0; f < attest_result_field_count; f++) {
        const attest_field *field = &attest_result_fields[f];
        const double x = field->type == ATTEST_FIELD_REAL ? attest_field_real(result, field) : 0;
        char text[1024];
        if (field->type == ATTEST_FIELD_TEXT) {
            attest_table_cell(table, "%s", (const char *)result + field->offset);
        } else if (field->type == ATTEST_FIELD_REAL && x != x) {
            attest_table_cell(table, "%s", "");
            attest_table_cell(table, "%s", "");
        } else if (field->type == ATTEST_FIELD_REAL) {
            attest_table_cell(table, "%.17g", x);
            attest_table_cell(table, "%a", x);
        } else {
            attest_field_text(text, sizeof text, result, field);
            attest_table_cell(table, "%s", text);
        }
    }
}

attest_status attest_results_write_csv(const attest_results *results, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_status status = ATTEST_OK;
    attest_table table;
    attest_result result;
    attest_column *column = calloc(2 * attest_result_field_count, sizeof *column);
    char(*heads)[40] = calloc(attest_result_field_count, sizeof *heads);
    if (!column || !heads)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the columns of %s", path));
    ATTEST_TRY(attest_output_open(&out, path, err));
    attest_table_begin(&table, out.file, ATTEST_TABLE_CSV, column, csv_columns(column, heads));
    for (size_t i = 0; i < results->count && status == ATTEST_OK; i++) {
        status = attest_results_get(&result, results, i, err);
        if (status == ATTEST_OK)
            csv_row(&table, &result);
    }
    if (status == ATTEST_OK)
        status = attest_table_end(&table, err);
out:
    free(column);
    free(heads);
    return attest_output_close(&out, status, err);
}

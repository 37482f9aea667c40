/* rows.c - a growing list of rows; JSON lines and CSV, out and in, driven by the field table. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"
#include "reports/write.h"

attest_status attest_rows_add(attest_rows *rows, const attest_row *row, attest_error *err)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity ? 2 * rows->capacity : 64;
        attest_row *grown = realloc(rows->row, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu rows", capacity);
        rows->row = grown;
        rows->capacity = capacity;
    }
    rows->row[rows->count++] = *row;
    return ATTEST_OK;
}

void attest_rows_clear(attest_rows *rows)
{
    free(rows->row);
    *rows = (attest_rows){ NULL, 0, 0 };
}

double attest_field_real(const attest_row *row, const attest_field *field)
{
    double x;
    memcpy(&x, (const char *)row + field->offset, sizeof x);
    return x;
}

int64_t attest_field_int(const attest_row *row, const attest_field *field)
{
    int64_t x;
    memcpy(&x, (const char *)row + field->offset, sizeof x);
    return x;
}

void attest_field_text(char *text, size_t len, const attest_row *row, const attest_field *field)
{
    const int64_t n =
        field->type == ATTEST_FIELD_TEXT || field->type == ATTEST_FIELD_REAL ? 0 : attest_field_int(row, field);
    switch (field->type) {
    case ATTEST_FIELD_TEXT: snprintf(text, len, "%s", (const char *)row + field->offset); break;
    case ATTEST_FIELD_REAL: snprintf(text, len, "%.17g", attest_field_real(row, field)); break;
    case ATTEST_FIELD_VERDICT:
        snprintf(text, len, "%s", n >= 0 && n < ATTEST_VERDICT_COUNT ? attest_verdict_names[n] : "?");
        break;
    case ATTEST_FIELD_REASONS: attest_reasons_text(text, len, n); break;
    default: snprintf(text, len, "%lld", (long long)n);
    }
}

/* ---- JSON lines ------------------------------------------------------------------------------------------- */
/* A real is {"hex": "0x1.8p+1", "dec": 3.0}; an infinity has "dec": "inf"; NaN is null. */
static json_t *real_to_json(double x)
{
    char hex[40];
    if (x != x)
        return json_null();
    snprintf(hex, sizeof hex, "%a", x);
    const int infinite = x - x != 0;
    return json_pack("{s:s, s:o}", "hex", hex, "dec", infinite ? json_string(x > 0 ? "inf" : "-inf") : json_real(x));
}

static json_t *row_to_json(const attest_row *row)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < attest_row_field_count; i++) {
        const attest_field *f = &attest_row_fields[i];
        char text[1600];
        json_t *value;
        if (f->type == ATTEST_FIELD_REAL) {
            value = real_to_json(attest_field_real(row, f));
        } else if (f->type == ATTEST_FIELD_INT) {
            value = json_integer(attest_field_int(row, f));
        } else {
            attest_field_text(text, sizeof text, row, f);
            value = json_string(text);
            if (!value) /* not UTF-8 */
                value = json_string("?");
        }
        json_object_set_new(object, f->name, value);
    }
    return object;
}

attest_status attest_row_print_json(FILE *out, const attest_row *row)
{
    json_t *object = row_to_json(row);
    const int bad =
        !object || json_dumpf(object, out, JSON_COMPACT | JSON_PRESERVE_ORDER) != 0 || fputc('\n', out) == EOF;
    json_decref(object);
    return bad ? ATTEST_IO : ATTEST_OK;
}

attest_status attest_rows_write_jsonl(const attest_rows *rows, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    for (size_t i = 0; status == ATTEST_OK && i < rows->count; i++)
        if (attest_row_print_json(out.file, &rows->row[i]) != ATTEST_OK)
            status = attest_fail(err, ATTEST_IO, "%s: write failed: %s", path, strerror(errno));
    return attest_output_close(&out, status, err);
}

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
static int field_from_json(attest_row *row, const attest_field *f, const json_t *value)
{
    char *at = (char *)row + f->offset;
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
    case ATTEST_FIELD_TEXT: return text && (size_t)snprintf(at, f->size, "%s", text) < f->size;
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

static attest_status row_from_json(attest_row *row, const json_t *object, const char *path, size_t line,
                                   attest_error *err)
{
    attest_row_init(row);
    if (!json_is_object(object))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: not a JSON object", path, line);
    for (size_t i = 0; i < attest_row_field_count; i++) {
        const attest_field *f = &attest_row_fields[i];
        const json_t *value = json_object_get(object, f->name);
        if (!value || !field_from_json(row, f, value))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: field '%s' is missing or of another type", path, line,
                               f->name);
    }
    if (row->schema != ATTEST_ROW_SCHEMA)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: schema %lld, this version reads %d", path, line,
                           (long long)row->schema, ATTEST_ROW_SCHEMA);
    return ATTEST_OK;
}

attest_status attest_rows_read_jsonl(attest_rows *rows, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *text = NULL;
    size_t size = 0, line = 0;
    FILE *in = fopen(path, "r");
    if (!in)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: cannot read: %s", path, strerror(errno));
    while (getline(&text, &size, in) > 0) {
        json_error_t problem;
        attest_row row;
        json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
        line++;
        if (!object)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: %s", path, line, problem.text));
        status = row_from_json(&row, object, path, line, err);
        json_decref(object);
        ATTEST_TRY(status);
        ATTEST_TRY(attest_rows_add(rows, &row, err));
    }
    if (ferror(in))
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: cannot read: %s", path, strerror(errno));
out:
    free(text);
    fclose(in);
    return status;
}

/* ---- CSV ---------------------------------------------------------------------------------------------------- */
static void print_csv_cell(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv_row(FILE *out, const attest_row *row)
{
    for (size_t i = 0; i < attest_row_field_count; i++) {
        const attest_field *f = &attest_row_fields[i];
        char text[1600];
        fputs(i ? "," : "", out);
        if (f->type == ATTEST_FIELD_REAL) {
            const double x = attest_field_real(row, f);
            if (x == x)
                fprintf(out, "%.17g,%a", x, x);
            else
                fputc(',', out);
        } else {
            attest_field_text(text, sizeof text, row, f);
            print_csv_cell(out, text);
        }
    }
    fputc('\n', out);
}

attest_status attest_rows_write_csv(const attest_rows *rows, const char *path, attest_error *err)
{
    attest_output out;
    const attest_status status = attest_output_open(&out, path, err);
    if (status == ATTEST_OK) {
        for (size_t i = 0; i < attest_row_field_count; i++) {
            const attest_field *f = &attest_row_fields[i];
            fprintf(out.file, f->type == ATTEST_FIELD_REAL ? "%s%s,%s_hex" : "%s%s", i ? "," : "", f->name, f->name);
        }
        fputc('\n', out.file);
        for (size_t i = 0; i < rows->count; i++)
            print_csv_row(out.file, &rows->row[i]);
    }
    return attest_output_close(&out, status, err);
}

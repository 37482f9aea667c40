/* results.c - the list: where each result lies in its file; one result as a line of JSON and back; all as CSV. */
#include "reports/results.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"
#include "kernels/text.h"
#include "reports/files/json.h"
#include "reports/files/output.h"
#include "reports/files/part.h"
#include "reports/table.h"

typedef struct attest_results_files {
    attest_part whole, edits; /* as they came; those that were replaced */
    attest_part images;       /* of those that were read once: attest_result_pack() */
    pthread_mutex_t lock;     /* of the images, and of where they are */
    char *path;               /* for messages */
} attest_results_files;

/* ---- files ------------------------------------------------------------------------------------------------------- */
static attest_status files_new(attest_results *results, const char *path, attest_error *err)
{
    attest_results_files *files = calloc(1, sizeof *files);
    *results = (attest_results){ 0 };
    if (!files || !(files->path = strdup(path))) {
        free(files);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a list of results");
    }
    files->whole.fd = files->edits.fd = files->images.fd = -1;
    pthread_mutex_init(&files->lock, NULL);
    results->files = files;
    return ATTEST_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */
static attest_status add_line(attest_results *results, int64_t at, size_t length, attest_error *err)
{
    if (length > UINT32_MAX)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: a line of %zu bytes", results->files->path, length);
    if (results->count == results->capacity) {
        const size_t capacity = results->capacity ? 2 * results->capacity : 64;
        attest_results_line *line = realloc(results->line, capacity * sizeof *line);
        if (!line)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu results", capacity);
        results->line = line;
        results->capacity = capacity;
    }
    results->line[results->count++] = (attest_results_line){ .at = at, .length = (uint32_t)length };
    return ATTEST_OK;
}

attest_status attest_results_create(attest_results *results, const char *path, attest_error *err)
{
    const attest_status status = files_new(results, path, err);
    if (status != ATTEST_OK)
        return status;
    results->files->whole.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0666);
    if (results->files->whole.fd >= 0)
        return ATTEST_OK;
    attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot write: %s", path, strerror(errno));
    attest_results_clear(results);
    return ATTEST_BAD_INPUT;
}

/* The text of a result and its newline at the end of a file. */
static attest_status append_result(attest_part *p, const attest_result *result, const char *path, size_t *length,
                                   attest_error *err)
{
    char *text = attest_result_json(result);
    if (!text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result");
    *length = strlen(text);
    text[*length] = '\n'; /* in place of the 0 */
    const attest_status status = attest_part_append(p, text, *length + 1, path, err);
    free(text);
    return status;
}

attest_status attest_results_add(attest_results *results, const attest_result *result, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t length;
    if (!results->files)
        ATTEST_TRY(files_new(results, "a temporary file", err));
    attest_part *p = &results->files->whole;
    if (p->fd < 0)
        ATTEST_TRY(attest_part_temporary(p, err));
    const int64_t at = p->end;
    ATTEST_TRY(append_result(p, result, results->files->path, &length, err));
    ATTEST_TRY(add_line(results, at, length, err));
    results->line[results->count - 1].rank = (uint16_t)(1 + attest_result_rank(result));
out:
    return status;
}

attest_status attest_results_replace(attest_results *results, size_t index, const attest_result *result,
                                     attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_part *p = &results->files->edits;
    size_t length;
    if (p->fd < 0)
        ATTEST_TRY(attest_part_temporary(p, err));
    const int64_t at = p->end;
    ATTEST_TRY(append_result(p, result, "a temporary file", &length, err));
    const uint16_t rank = (uint16_t)(1 + attest_result_rank(result));
    results->line[index] = (attest_results_line){ .at = at, .length = (uint32_t)length, .edited = 1, .rank = rank };
out:
    return status;
}

attest_status attest_results_order(attest_results *results, const size_t *order, attest_error *err)
{
    if (results->count == 0) /* nothing is there yet, not even the files */
        return ATTEST_OK;
    attest_results_line *line = calloc(results->count + 1, sizeof *line);
    if (!line)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for the order of %zu results", results->count);
    for (size_t i = 0; i < results->count; i++)
        line[i] = results->line[order[i]];
    free(results->line);
    results->line = line;
    results->capacity = results->count + 1;
    return ATTEST_OK;
}

void attest_results_clear(attest_results *results)
{
    if (results->files) {
        const int fds[] = { results->files->whole.fd, results->files->edits.fd, results->files->images.fd };
        for (int i = 0; i < 3; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        pthread_mutex_destroy(&results->files->lock);
        free(results->files->path);
    }
    free(results->files);
    free(results->line);
    *results = (attest_results){ 0 };
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */
/* Finds the lines; a last one without a newline counts if `torn`. */
static attest_status find_lines(attest_results *results, int torn, attest_error *err)
{
    static const size_t size = 1 << 16;
    attest_status status = ATTEST_OK;
    attest_part *p = &results->files->whole;
    int64_t start = 0, at = 0;
    char *buffer = malloc(size);
    ssize_t got = 1;
    if (!buffer)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to read %s", results->files->path);
    while (got > 0) {
        got = pread(p->fd, buffer, size, (off_t)at);
        if (got < 0)
            ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot read: %s", results->files->path,
                                   strerror(errno)));
        for (ssize_t i = 0; i < got; i++)
            if (buffer[i] == '\n') {
                ATTEST_TRY(add_line(results, start, (size_t)(at + i - start), err));
                start = at + i + 1;
            }
        at += got;
    }
    if (start < at && torn)
        ATTEST_TRY(add_line(results, start, (size_t)(at - start), err));
    p->end = at;
out:
    free(buffer);
    return status;
}

static attest_status open_file(attest_results *results, const char *path, int torn, attest_error *err)
{
    attest_status status = files_new(results, path, err);
    if (status != ATTEST_OK)
        return status;
    status = attest_input_open(&results->files->whole.fd, NULL, path, err);
    if (status == ATTEST_OK)
        status = find_lines(results, torn, err);
    if (status != ATTEST_OK)
        attest_results_clear(results);
    return status;
}

attest_status attest_results_open(attest_results *results, const char *path, attest_error *err)
{
    return open_file(results, path, 1, err);
}

attest_status attest_results_open_part(attest_results *results, const char *path, attest_error *err)
{
    return open_file(results, path, 0, err);
}

/* The text of a line; malloc'd, the caller's. */
static attest_status read_line(char **text, const attest_results *results, size_t index, attest_error *err)
{
    const attest_results_line *line = &results->line[index];
    const attest_part *p = line->edited ? &results->files->edits : &results->files->whole;
    *text = malloc((size_t)line->length + 1);
    if (!*text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result");
    (*text)[line->length] = '\0';
    if (attest_part_read(p, *text, line->length, line->at) == 0)
        return ATTEST_OK;
    const int why = errno;
    free(*text);
    *text = NULL;
    return attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: cannot read: %s", results->files->path, index + 1,
                       why ? strerror(why) : "it has become shorter");
}

/* ---- what was read once, for all threads that ask ---------------------------------------------------------------- */
enum { IMAGES_MOST = 1 << 26 }; /* bytes of a temporary file; beyond it a line is read each time */

/* Keeps what was read of a line.  Where that cannot be written the file gives its room back: lines are read again. */
static void keep_image(attest_results_files *files, attest_results_line *line, const attest_result *result)
{
    char image[sizeof *result];
    attest_error ignored;
    attest_part *p = &files->images;
    const size_t length = attest_result_pack(image, result);
    pthread_mutex_lock(&files->lock);
    if (line->image_length == 0 && p->end + (int64_t)length <= IMAGES_MOST &&
        (p->fd >= 0 || attest_part_temporary(p, &ignored) == ATTEST_OK)) {
        if (attest_part_append(p, image, length, "a temporary file", &ignored) == ATTEST_OK) {
            line->image = p->end - (int64_t)length;
            line->image_length = (uint32_t)length;
        } else {
            p->end = IMAGES_MOST + (ftruncate(p->fd, 0) != 0); /* it stays open, for others may be reading */
        }
    }
    pthread_mutex_unlock(&files->lock);
}

/* 1 if the line was read before. */
static int find_image(attest_result *result, attest_results_files *files, const attest_results_line *line)
{
    char image[sizeof *result];
    pthread_mutex_lock(&files->lock);
    const int64_t at = line->image;
    const size_t length = line->image_length;
    pthread_mutex_unlock(&files->lock);
    return length > 0 && attest_part_read(&files->images, image, length, at) == 0 &&
           attest_result_unpack(result, image, length);
}

attest_status attest_results_get(attest_result *result, const attest_results *results, size_t index, attest_error *err)
{
    attest_results_line *line = &results->line[index];
    char where[4200], *text;
    if (find_image(result, results->files, line))
        return ATTEST_OK;
    attest_status status = read_line(&text, results, index, err);
    if (status != ATTEST_OK)
        return status;
    snprintf(where, sizeof where, "%.4000s:%zu", results->files->path, index + 1);
    status = attest_result_parse_json(result, text, where, err);
    free(text);
    if (status == ATTEST_OK)
        keep_image(results->files, line, result);
    return status;
}

attest_status attest_results_rank(int *rank, const attest_results *results, size_t index, attest_error *err)
{
    attest_result result = { .verdict = ATTEST_PASS };
    const int line = results->line[index].rank, known = line > 0 && (!results->no_pass || line <= ATTEST_RANKS_BAD);
    const attest_status status = known ? ATTEST_OK : attest_results_get(&result, results, index, err);
    *rank = known ? line - 1 : attest_results_rank_of(results, &result);
    return status;
}

attest_status attest_results_pass(const attest_results *results, const attest_accumulator *accumulators, size_t count,
                                  attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        for (size_t k = 0; k < count; k++)
            ATTEST_TRY(accumulators[k].take(accumulators[k].state, &result, err));
    }
out:
    return status;
}

attest_status attest_results_write_jsonl(const attest_results *results, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    for (size_t i = 0; status == ATTEST_OK && i < results->count; i++) {
        char *text;
        status = read_line(&text, results, i, err);
        if (status == ATTEST_OK && (fputs(text, out.file) == EOF || fputc('\n', out.file) == EOF))
            status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: write failed: %s", path, strerror(errno));
        free(text);
    }
    return attest_output_close(&out, status, err);
}

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
        n = json_integer_value(value);
        if (!json_is_integer(value) || !attest_field_holds(f, n))
            return 0;
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
    for (size_t i = 0; i < results->count; i++) {
        ATTEST_TRY(attest_results_get(&result, results, i, err));
        csv_row(&table, &result);
    }
    ATTEST_TRY(attest_table_end(&table, err));
out:
    free(column);
    free(heads);
    return attest_output_close(&out, status, err);
}

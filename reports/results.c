/* results.c - the list: where each result lies in its file; see results.h. */
#include "reports/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/input.h"
#include "reports/files/output.h"

/* One file: what was written up to now. */
typedef struct part {
    int fd; /* -1: none yet */
    int64_t end;
} part;

typedef struct attest_results_files {
    part whole, edits; /* as they came; those that were replaced */
    char *path;        /* for messages */
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
    files->whole.fd = files->edits.fd = -1;
    results->files = files;
    return ATTEST_OK;
}

/* A file without a name, where temporary files go; in memory where there is no such place. */
static attest_status part_temporary(part *p, attest_error *err)
{
    const char *given = getenv("TMPDIR"), *folder = given && *given ? given : "/tmp";
    char path[4096];
    if (snprintf(path, sizeof path, "%s/attest-XXXXXX", folder) < (int)sizeof path && (p->fd = mkstemp(path)) >= 0) {
        unlink(path);
        fcntl(p->fd, F_SETFD, FD_CLOEXEC);
    } else {
        p->fd = memfd_create("results", MFD_CLOEXEC);
    }
    return p->fd >= 0 ? ATTEST_OK
                      : attest_fail(err, attest_of_errno(ATTEST_IO), "no temporary file: %s", strerror(errno));
}

static attest_status part_append(part *p, const char *text, size_t length, const char *path, attest_error *err)
{
    for (size_t done = 0; done < length;) {
        const ssize_t n = pwrite(p->fd, text + done, length - done, (off_t)p->end + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            const int why = errno;
            if (ftruncate(p->fd, (off_t)p->end) != 0) /* what is cut is left out by who reads it */
                return attest_fail(err, ATTEST_IO, "%s: write failed: %s; its last line is cut", path, strerror(why));
            return attest_fail(err, ATTEST_IO, "%s: write failed: %s", path, strerror(why));
        }
        done += (size_t)n;
    }
    p->end += (int64_t)length;
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
static attest_status append_result(part *p, const attest_result *result, const char *path, size_t *length,
                                   attest_error *err)
{
    char *text = attest_result_json(result);
    if (!text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result");
    *length = strlen(text);
    text[*length] = '\n'; /* in place of the 0 */
    const attest_status status = part_append(p, text, *length + 1, path, err);
    free(text);
    return status;
}

attest_status attest_results_add(attest_results *results, const attest_result *result, attest_error *err)
{
    attest_status status = ATTEST_OK;
    size_t length;
    if (!results->files)
        ATTEST_TRY(files_new(results, "a temporary file", err));
    part *p = &results->files->whole;
    if (p->fd < 0)
        ATTEST_TRY(part_temporary(p, err));
    const int64_t at = p->end;
    ATTEST_TRY(append_result(p, result, results->files->path, &length, err));
    ATTEST_TRY(add_line(results, at, length, err));
out:
    return status;
}

attest_status attest_results_replace(attest_results *results, size_t index, const attest_result *result,
                                     attest_error *err)
{
    attest_status status = ATTEST_OK;
    part *p = &results->files->edits;
    size_t length;
    if (p->fd < 0)
        ATTEST_TRY(part_temporary(p, err));
    const int64_t at = p->end;
    ATTEST_TRY(append_result(p, result, "a temporary file", &length, err));
    results->line[index] = (attest_results_line){ .at = at, .length = (uint32_t)length, .edited = 1 };
out:
    return status;
}

attest_status attest_results_order(attest_results *results, const size_t *order, attest_error *err)
{
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
        const int fds[] = { results->files->whole.fd, results->files->edits.fd };
        for (int i = 0; i < 2; i++)
            if (fds[i] >= 0)
                close(fds[i]);
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
    part *p = &results->files->whole;
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
    const part *p = line->edited ? &results->files->edits : &results->files->whole;
    *text = malloc((size_t)line->length + 1);
    if (!*text)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a result");
    (*text)[line->length] = '\0';
    for (size_t done = 0; done < line->length;) {
        const ssize_t got = pread(p->fd, *text + done, line->length - done, (off_t)line->at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(*text);
            *text = NULL;
            return attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: cannot read: %s", results->files->path, index + 1,
                               got < 0 ? strerror(errno) : "it has become shorter");
        }
        done += (size_t)got;
    }
    return ATTEST_OK;
}

attest_status attest_results_get(attest_result *result, const attest_results *results, size_t index, attest_error *err)
{
    char where[4200], *text;
    attest_status status = read_line(&text, results, index, err);
    if (status != ATTEST_OK)
        return status;
    snprintf(where, sizeof where, "%.4000s:%zu", results->files->path, index + 1);
    status = attest_result_parse_json(result, text, where, err);
    free(text);
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

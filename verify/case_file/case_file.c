/* case_file.c - see case_file.h. */
#include "verify/case_file/case_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/input.h"
#include "reports/files/output.h"

#define FIRST_LINE "# attest case 1"

void attest_case_file_clear(attest_case_file *file)
{
    attest_bundle_free(file->inputs);
    file->inputs = NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */
static void write_tensor(FILE *out, const attest_tensor *t, attest_tensor_id id)
{
    char name[32];
    attest_tensor_id_print(name, sizeof name, id);
    fprintf(out, "tensor %s %s", name, attest_dtype_name(t->dtype));
    for (int axis = 0; axis < t->rank; axis++)
        fprintf(out, " %" PRId64, t->shape[axis]);
    for (int64_t at = 0; at < attest_tensor_count(t); at++) {
        fputc(at % t->shape[t->rank - 1] == 0 ? '\n' : ' ', out);
        if (attest_dtype_counts(t->dtype))
            fprintf(out, "%" PRId64, attest_load_int(t, at));
        else
            fprintf(out, "%a", attest_load(t, at));
    }
    fputc('\n', out);
}

attest_status attest_case_file_write(const attest_case_file *file, const char *path, const char *why, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char line[ATTEST_LINE];
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_output output;
    ATTEST_TRY(attest_case_print(line, sizeof line, &file->c, err));
    ATTEST_TRY(attest_output_open(&output, path, err));
    FILE *out = output.file;
    fprintf(out, FIRST_LINE "\n# %s\n", why);
    fprintf(out, "kernel=%s\nproblem=%s\nobjective=%s\nvalue=%a (%.6g)\n", file->kernel, line, file->objective,
            file->value, file->value);
    fprintf(out, "strategy=%s\nevaluations=%" PRId64 "\nseed=%" PRIu64 "\n", file->strategy, file->evaluations,
            file->seed);
    const size_t count = attest_problem_inputs(&file->c.problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++)
        write_tensor(out, attest_bundle_get(file->inputs, ids[i]), ids[i]);
    fprintf(out, "end\n");
    status = attest_output_close(&output, ATTEST_OK, err);
out:
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */
typedef struct reader {
    attest_case_file *file;
    const char *path;
    FILE *in;
    char *text; /* of the line at hand, without its newline */
    size_t size;
    long line;
    unsigned seen; /* bit of each key */
} reader;

/* 0 at the end of the file, or without memory. */
static int next_line(reader *r)
{
    errno = 0;
    const ssize_t n = getline(&r->text, &r->size, r->in);
    if (n < 0)
        return 0;
    r->line++;
    if (n > 0 && r->text[n - 1] == '\n')
        r->text[n - 1] = '\0';
    return 1;
}

static attest_status refuse(const reader *r, attest_error *err, const char *what)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "%s:%ld: %s", r->path, r->line, what);
}

/* After next_line() gave none: why there is none, if not for the end of the file. */
static attest_status cut_off(const reader *r, attest_error *err, const char *what)
{
    if (attest_of_errno(ATTEST_OK) == ATTEST_OK)
        return refuse(r, err, what);
    return attest_fail(err, ATTEST_NO_MEMORY, "%s:%ld: no memory for the next line", r->path, r->line);
}

static attest_status take_text(char *to, size_t len, const char *text)
{
    return snprintf(to, len, "%s", text) < (int)len && *text ? ATTEST_OK : ATTEST_BAD_INPUT;
}

/* An unsigned integer and nothing after it. */
static attest_status take_count(uint64_t *to, const char *text)
{
    char *end;
    errno = 0;
    *to = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' ? ATTEST_OK : ATTEST_BAD_INPUT;
}

static attest_status take_kernel(attest_case_file *f, const char *text)
{
    return take_text(f->kernel, sizeof f->kernel, text);
}

static attest_status take_problem(attest_case_file *f, const char *text)
{
    attest_error ignored;
    return attest_case_parse(&f->c, text, NULL, NULL, &ignored);
}

static attest_status take_objective(attest_case_file *f, const char *text)
{
    return take_text(f->objective, sizeof f->objective, text);
}

static attest_status take_value(attest_case_file *f, const char *text)
{
    char *end;
    f->value = strtod(text, &end);
    return end != text && (*end == '\0' || *end == ' ') && f->value >= 0 ? ATTEST_OK : ATTEST_BAD_INPUT;
}

static attest_status take_strategy(attest_case_file *f, const char *text)
{
    return take_text(f->strategy, sizeof f->strategy, text);
}

static attest_status take_evaluations(attest_case_file *f, const char *text)
{
    uint64_t count;
    const attest_status status = take_count(&count, text);
    f->evaluations = (int64_t)(count & INT64_MAX);
    return status;
}

static attest_status take_seed(attest_case_file *f, const char *text) { return take_count(&f->seed, text); }

static const struct {
    const char *name;
    attest_status (*take)(attest_case_file *f, const char *text);
} keys[] = { { "kernel", take_kernel }, { "problem", take_problem },   { "objective", take_objective },
             { "value", take_value },   { "strategy", take_strategy }, { "evaluations", take_evaluations },
             { "seed", take_seed } };

enum { KEYS = sizeof keys / sizeof keys[0], PROBLEM_KEY = 1 };

static attest_status read_key(reader *r, attest_error *err)
{
    const size_t len = strcspn(r->text, "=");
    for (unsigned k = 0; k < KEYS; k++) {
        if (strlen(keys[k].name) != len || strncmp(keys[k].name, r->text, len) != 0 || r->text[len] != '=')
            continue;
        if (r->seen & 1u << k)
            return refuse(r, err, "this key is there already");
        r->seen |= 1u << k;
        const attest_status status = keys[k].take(r->file, r->text + len + 1);
        if (status == ATTEST_NO_MEMORY)
            return attest_fail(err, status, "%s:%ld: no memory for this value", r->path, r->line);
        return status == ATTEST_OK ? ATTEST_OK : refuse(r, err, "this value cannot be read");
    }
    return refuse(r, err, "neither a key, nor `tensor NAME DTYPE SIZES`, nor `end`");
}

/* One number of a row: as a value that the dtype holds exactly. */
static int read_value(attest_tensor *t, int64_t at, char **text)
{
    char *end;
    if (attest_dtype_counts(t->dtype)) {
        attest_store_bits(t, at, (uint64_t)strtoll(*text, &end, 10));
    } else {
        const double x = strtod(*text, &end);
        const uint64_t bits = attest_from_f64(t->dtype, x);
        const double held = attest_to_f64(t->dtype, bits);
        if (!(held <= x && held >= x) && x == x)
            return 0;
        attest_store_bits(t, at, bits);
    }
    const int found = end != *text && (*end == ' ' || *end == '\0');
    *text = end;
    return found;
}

/* `tensor q f32 1 1 1 2` and its rows. */
static attest_status read_tensor(reader *r, attest_error *err)
{
    const attest_problem *p = &r->file->c.problem;
    char name[32] = "", dtype[8] = "", want[128];
    int used = 0;
    attest_tensor_id id;
    attest_tensor *t;
    attest_status status = ATTEST_OK;
    if (!(r->seen & 1u << PROBLEM_KEY))
        return refuse(r, err, "a tensor before the problem");
    if (sscanf(r->text, "tensor %31s %7s%n", name, dtype, &used) != 2 ||
        attest_tensor_id_parse(&id, name, err) != ATTEST_OK || !attest_problem_uses(p, id))
        return refuse(r, err, "no input tensor of this problem");
    if (attest_bundle_get(r->file->inputs, id))
        return refuse(r, err, "this tensor is there already");
    ATTEST_TRY(attest_bundle_add(r->file->inputs, p, id, 0, &t, err));
    size_t n = (size_t)snprintf(want, sizeof want, "tensor %s %s", name, attest_dtype_name(t->dtype));
    for (int axis = 0; axis < t->rank; axis++)
        n += (size_t)snprintf(want + n, sizeof want - n, " %" PRId64, t->shape[axis]);
    if (strcmp(want, r->text) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s:%ld: the problem wants `%s`", r->path, r->line, want);
    const int64_t width = t->shape[t->rank - 1];
    for (int64_t at = 0; at < attest_tensor_count(t); at += width) {
        if (!next_line(r))
            return cut_off(r, err, "the file ends inside a tensor");
        char *text = r->text;
        for (int64_t c = 0; c < width; c++)
            if (!read_value(t, at + c, &text))
                return refuse(r, err, "a number is missing, or one that the dtype does not hold");
        if (*text != '\0')
            return refuse(r, err, "numbers left over");
    }
out:
    return status;
}

/* Nothing may be missing. */
static attest_status check_complete(const reader *r, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&r->file->c.problem, ids, ATTEST_MAX_TENSORS);
    for (unsigned k = 0; k < KEYS; k++)
        if (!(r->seen & 1u << k))
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: no line `%s=`", r->path, keys[k].name);
    for (size_t i = 0; i < count; i++)
        if (!attest_bundle_get(r->file->inputs, ids[i])) {
            char name[32];
            attest_tensor_id_print(name, sizeof name, ids[i]);
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: tensor %s is missing", r->path, name);
        }
    return ATTEST_OK;
}

static int is_begun(reader *r) { return next_line(r) && strcmp(r->text, FIRST_LINE) == 0; }

int attest_is_case_file(const char *path)
{
    attest_error none;
    reader r = { .path = path };
    errno = 0;
    attest_input_stream(&r.in, NULL, path, &none);
    const int is = r.in && is_begun(&r), unknown = !is && errno == ENOMEM;
    if (r.in)
        fclose(r.in);
    free(r.text);
    return is || unknown;
}

static attest_status read_all(reader *r, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int ended = 0;
    if (!is_begun(r))
        return cut_off(r, err, "no case file: its first line is not `" FIRST_LINE "`");
    while (!ended && next_line(r)) {
        ended = strcmp(r->text, "end") == 0;
        if (strncmp(r->text, "tensor ", 7) == 0)
            ATTEST_TRY(read_tensor(r, err));
        else if (!ended && r->text[0] != '#')
            ATTEST_TRY(read_key(r, err));
    }
    if (!ended)
        return cut_off(r, err, "the line `end` is missing");
    ATTEST_TRY(check_complete(r, err));
out:
    return status;
}

attest_status attest_case_file_read(attest_case_file *file, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    reader r = { .file = file, .path = path };
    memset(file, 0, sizeof *file);
    if ((status = attest_input_stream(&r.in, NULL, path, err)) != ATTEST_OK)
        return status;
    ATTEST_TRY(attest_bundle_new(&file->inputs, err));
    ATTEST_TRY(read_all(&r, err));
out:
    fclose(r.in);
    free(r.text);
    if (status != ATTEST_OK)
        attest_case_file_clear(file);
    return status;
}

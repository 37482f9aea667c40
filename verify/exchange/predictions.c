/* predictions.c - outputs beside what was predicted; see predict.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/input.h"
#include "kernels/npy/npy.h"
#include "kernels/text.h"
#include "verify/exchange/predict_private.h"

typedef struct line {
    char kernel[64], version[32], library[128], file_hash[20], cannot[256], inputs[20], bits[20];
    char problem[ATTEST_LINE]; /* "": of the whole kernel */
    json_t *object;            /* owned; `files` is read when the case is asked */
} line;

struct attest_predictions {
    char *dir;
    line *line; /* [count], sorted by kernel and problem */
    size_t count, capacity;
};

static int in_order(const char *kernel, const char *problem, const line *l)
{
    const int order = strcmp(kernel, l->kernel);
    return order ? order : strcmp(problem, l->problem);
}

static int by_case(const void *a, const void *b)
{
    const line *x = a;
    return in_order(x->kernel, x->problem, b);
}

/* ---- predictions.jsonl ------------------------------------------------------------------------------------------- */
/* Made clean: it may be told. */
static attest_status take_text(char *to, size_t size, const line *l, const char *key, int needed, attest_error *err)
{
    const char *text = json_string_value(json_object_get(l->object, key));
    to[0] = '\0';
    if (!text && needed)
        return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is missing or no text", key);
    if (text && strlen(text) >= size)
        return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is longer than %zu bytes", key, size - 1);
    if (text)
        attest_text_clean(to, size, text);
    return ATTEST_OK;
}

static attest_status take_line(line *l, const char *text, attest_error *err)
{
    json_error_t wrong;
    attest_status status = ATTEST_OK;
    attest_case c;
    memset(l, 0, sizeof *l);
    l->object = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    if (attest_starved())
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to read it");
    if (!l->object)
        return attest_fail(err, ATTEST_BAD_INPUT, "no JSON: %s", wrong.text);
    ATTEST_TRY(take_text(l->kernel, sizeof l->kernel, l, "kernel", 1, err));
    ATTEST_TRY(take_text(l->version, sizeof l->version, l, "version", 1, err));
    ATTEST_TRY(take_text(l->library, sizeof l->library, l, "library", 0, err));
    ATTEST_TRY(take_text(l->file_hash, sizeof l->file_hash, l, "file_hash", 0, err));
    ATTEST_TRY(take_text(l->cannot, sizeof l->cannot, l, "cannot", 0, err));
    const int predicted = !l->cannot[0];
    ATTEST_TRY(take_text(l->problem, sizeof l->problem, l, "problem", predicted, err));
    ATTEST_TRY(take_text(l->inputs, sizeof l->inputs, l, "inputs", predicted, err));
    ATTEST_TRY(take_text(l->bits, sizeof l->bits, l, "bits", predicted, err));
    if (predicted && !json_is_object(json_object_get(l->object, "files")))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "'files' is missing or no object"));
    if (l->problem[0])
        status = attest_case_parse(&c, l->problem, NULL, NULL, err);
out:
    return status;
}

static attest_status add_line(attest_predictions *p, const char *text, attest_error *err)
{
    if (p->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 64;
        line *grown = realloc(p->line, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu predictions", capacity);
        p->line = grown;
        p->capacity = capacity;
    }
    return take_line(&p->line[p->count++], text, err);
}

attest_status attest_predictions_read(attest_predictions **predictions, const char *dir, attest_error *err)
{
    char path[ATTEST_PREDICT_PATH], where[ATTEST_PREDICT_PATH + 32], *text = NULL;
    attest_status status = ATTEST_OK;
    size_t room = 0;
    FILE *in = NULL;
    attest_predictions *p = calloc(1, sizeof *p);
    *predictions = NULL;
    if (!p || !(p->dir = strdup(dir)))
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for predictions"));
    ATTEST_TRY(attest_predict_path(path, dir, NULL, ATTEST_PREDICTIONS, err));
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    while (getline(&text, &room, in) >= 0) {
        status = add_line(p, text, err);
        snprintf(where, sizeof where, "%s:%zu", path, p->count);
        if (status != ATTEST_OK)
            ATTEST_TRY(attest_fail_prefix(err, status, where));
    }
    ATTEST_TRY(attest_input_ended(in, path, err));
    if (p->count == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: no prediction", path));
    qsort(p->line, p->count, sizeof *p->line, by_case);
    for (size_t i = 1; i < p->count; i++)
        if (by_case(&p->line[i - 1], &p->line[i]) == 0)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: two lines have %s, '%s'", path, p->line[i].kernel,
                                   p->line[i].problem));
    *predictions = p;
    p = NULL;
out:
    free(text);
    if (in)
        fclose(in);
    attest_predictions_free(p);
    return status;
}

void attest_predictions_free(attest_predictions *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        json_decref(p->line[i].object);
    free(p->line);
    free(p->dir);
    free(p);
}

/* 1: a line before has this library. */
static int was_seen(const attest_predictions *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(p->line[k].library, p->line[i].library) == 0)
            return 1;
    return 0;
}

void attest_predictions_stale(const attest_predictions *p, const char *const *paths, size_t count,
                              void (*tell)(void *context, const char *path), void *context)
{
    char hash[20];
    for (size_t i = 0; i < p->count; i++) {
        const line *l = &p->line[i];
        for (size_t k = 0; k < count && l->library[0] && !was_seen(p, i); k++) {
            const char *slash = strrchr(paths[k], '/');
            if (strcmp(slash ? slash + 1 : paths[k], l->library) != 0)
                continue;
            attest_file_hash(hash, paths[k]);
            if (strcmp(hash, l->file_hash) != 0)
                tell(context, paths[k]);
            break;
        }
    }
}

/* ---- a case ------------------------------------------------------------------------------------------------------ */
typedef struct key {
    const char *kernel, *problem;
} key;

static int key_order(const void *a, const void *b)
{
    const key *wanted = a;
    return in_order(wanted->kernel, wanted->problem, b);
}

/* The line of a case, or of its whole kernel; NULL: neither. */
static const line *find(const attest_predictions *p, const char *kernel, const char *problem)
{
    const key of_case = { kernel, problem }, of_kernel = { kernel, "" };
    const line *found = bsearch(&of_case, p->line, p->count, sizeof *p->line, key_order);
    return found ? found : bsearch(&of_kernel, p->line, p->count, sizeof *p->line, key_order);
}

typedef struct difference {
    char first[120]; /* "": none */
    int64_t elements, differ;
} difference;

static void compare(difference *d, const char *name, const attest_tensor *predicted, const attest_tensor *got)
{
    const int64_t count = attest_tensor_count(got);
    const int digits = 2 * (int)attest_dtype_bytes(got->dtype);
    char index[64];
    d->elements += count;
    for (int64_t at = 0; at < count; at++) {
        if (attest_predict_same(predicted, got, at))
            continue;
        d->differ++;
        if (d->first[0])
            continue;
        attest_predict_index(index, sizeof index, got, at);
        snprintf(d->first, sizeof d->first, "%.16s[%s]: predicted 0x%0*llx, got 0x%0*llx", name, index, digits,
                 (unsigned long long)attest_predict_bits(predicted, at), digits,
                 (unsigned long long)attest_predict_bits(got, at));
    }
}

/* Every predicted output; ATTEST_BAD_INPUT: one that is not here, or other bytes than were predicted. */
static attest_status load_outputs(attest_bundle *predicted, const attest_predictions *p, const line *l,
                                  const attest_problem *problem, const attest_bundle *outputs, attest_error *err)
{
    const json_t *files = json_object_get(l->object, "files");
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    char bits[20];
    const size_t count = attest_problem_outputs(problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        char name[40], path[ATTEST_PREDICT_PATH];
        attest_tensor_id_print(name, sizeof name, ids[i]);
        const char *file = json_string_value(json_object_get(files, name));
        const attest_tensor *got = attest_bundle_get(outputs, ids[i]);
        if (!file != !got)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s is %s", name,
                                   got ? "no output of the prediction" : "no output of this kernel"));
        if (!file)
            continue;
        ATTEST_TRY(attest_predict_path(path, p->dir, NULL, file, err));
        ATTEST_TRY(attest_npy_load(predicted, problem, ids[i], path, 0, err));
    }
    attest_predict_hash(bits, predicted, ids, count);
    if (strcmp(bits, l->bits) != 0)
        status = attest_fail(err, ATTEST_BAD_INPUT, "its files are damaged: hash %s, predicted were outputs of %s",
                             bits, l->bits);
out:
    return status;
}

static attest_status compare_outputs(attest_result *result, const attest_predictions *p, const line *l,
                                     const attest_problem *problem, const attest_bundle *outputs, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    attest_bundle *predicted = NULL;
    difference d = { "", 0, 0 };
    const size_t count = attest_problem_outputs(problem, ids, ATTEST_MAX_TENSORS);
    ATTEST_TRY(attest_bundle_new(&predicted, err));
    ATTEST_TRY(load_outputs(predicted, p, l, problem, outputs, err));
    for (size_t i = 0; i < count; i++) {
        char name[40];
        const attest_tensor *t = attest_bundle_get(predicted, ids[i]);
        attest_tensor_id_print(name, sizeof name, ids[i]);
        if (t)
            compare(&d, name, t, attest_bundle_get(outputs, ids[i]));
    }
    if (d.differ == 0)
        snprintf(result->predicted, sizeof result->predicted, "equal");
    else
        snprintf(result->predicted, sizeof result->predicted, "%s (%lld of %lld elements differ)", d.first,
                 (long long)d.differ, (long long)d.elements);
out:
    attest_bundle_free(predicted);
    return status;
}

static void not_predicted(attest_result *result, const char *why)
{
    static const char begin[] = "not predicted: ";
    memcpy(result->predicted, begin, sizeof begin);
    attest_text_clean(result->predicted + sizeof begin - 1, sizeof result->predicted - sizeof begin + 1, why);
}

attest_status attest_predictions_look(const void *context, attest_result *result, const attest_kernel_facts *kernel,
                                      const attest_prepared *prepared, const attest_bundle *outputs, attest_error *err)
{
    const attest_predictions *p = context;
    const line *l = find(p, kernel->name, prepared->line);
    const attest_problem *problem = &prepared->c.problem;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    char *text = result->predicted, inputs[20];
    const size_t len = sizeof result->predicted;
    attest_predict_hash(inputs, prepared->inputs, ids, attest_problem_inputs(problem, ids, ATTEST_MAX_TENSORS));
    if (!l)
        snprintf(text, len, "not predicted: no prediction of this kernel has the case");
    else if (l->cannot[0])
        not_predicted(result, l->cannot);
    else if (strcmp(l->version, kernel->version) != 0)
        snprintf(text, len, "not predicted: version %s, the prediction is of version %s", kernel->version, l->version);
    else if (strcmp(l->inputs, inputs) != 0)
        snprintf(text, len, "not predicted: the inputs are others than those of the prediction");
    else {
        const attest_status status = compare_outputs(result, p, l, problem, outputs, err);
        if (status != ATTEST_BAD_INPUT && status != ATTEST_IO)
            return status;
        not_predicted(result, err->text); /* a file is gone or cut: no fault of the kernel */
    }
    return ATTEST_OK;
}

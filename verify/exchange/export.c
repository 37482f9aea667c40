/* export.c - writes the cases of a suite as files; see exchange.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/npy/npy.h"
#include "kernels/safetensors/safetensors.h"
#include "props/draw/draw.h"
#include "verify/exchange/golden.h"

typedef struct exporting {
    const attest_export_request *request;
    attest_output manifest, list;     /* cases.jsonl, golden.txt */
    char declare[ATTEST_DECLARATION]; /* "": nothing is known */
    attest_golden golden;
    size_t count;
} exporting;

/* ---- the line of a case ------------------------------------------------------------------------------------- */
static json_t *keys_to_json(const attest_case *c)
{
    const attest_problem *p = &c->problem;
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = { { "b", p->b }, { "hq", p->hq }, { "hkv", p->hkv },     { "n", p->n },          { "m", p->m },
                  { "d", p->d }, { "e", p->e },   { "chunk", p->chunk }, { "splits", p->splits } };
    const struct {
        const char *key;
        uint32_t dtype;
    } types[] = { { "in", p->in }, { "acc", p->acc }, { "p", p->p }, { "out", p->out } };
    json_t *keys = json_object();
    char text[64];
    json_object_set_new(keys, "variant", attest_json_text(c->preset));
    for (uint32_t i = 0; i < ATTEST_AXIS_COUNT; i++) {
        attest_axis_print(text, sizeof text, attest_axes[i].axis, &p->axis[attest_axes[i].axis]);
        json_object_set_new(keys, attest_axes[i].key, attest_json_text(text));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        json_object_set_new(keys, sizes[i].key, json_integer((json_int_t)sizes[i].value));
    json_object_set_new(keys, "scale", attest_json_number(p->scale));
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        json_object_set_new(keys, types[i].key, json_string(attest_dtype_name(types[i].dtype)));
    return keys;
}

/* {file, dtype, shape, hash}; `path` NULL: no hash. */
static json_t *tensor_to_json(const attest_tensor *t, const char *folder, const char *name, const char *path)
{
    json_t *object = json_object(), *shape = json_array();
    char file[96], hash[20];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    for (int axis = 0; axis < t->rank; axis++)
        json_array_append_new(shape, json_integer((json_int_t)t->shape[axis]));
    json_object_set_new(object, "file", attest_json_text(file));
    json_object_set_new(object, "dtype", json_string(attest_dtype_name(t->dtype)));
    json_object_set_new(object, "shape", shape);
    if (path) {
        attest_file_hash(hash, path);
        json_object_set_new(object, "hash", attest_json_text(hash));
    }
    return object;
}

/* The file of a tensor: its own, or that of all inputs or outputs. */
static void name_file(char file[ATTEST_EXCHANGE_FILE], const exporting *e, attest_tensor_id id, int input)
{
    char name[32];
    attest_tensor_id_print(name, sizeof name, id);
    if (e->request->safetensors)
        snprintf(file, ATTEST_EXCHANGE_FILE, "%s", input ? "inputs.safetensors" : "outputs.safetensors");
    else
        snprintf(file, ATTEST_EXCHANGE_FILE, "%s.npy", name);
}

/* The tensors of these ids that the bundle has. */
static attest_status write_tensors(const exporting *e, const char *folder, const attest_bundle *bundle,
                                   const attest_tensor_id *ids, size_t count, int input, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], file[ATTEST_EXCHANGE_FILE], name[ATTEST_MAX_TENSORS][16];
    attest_named_tensor list[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    size_t there = 0;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = attest_bundle_get(bundle, ids[i]);
        if (!t)
            continue;
        name_file(file, e, ids[i], input);
        ATTEST_TRY(attest_exchange_path(path, e->request->dir, folder, file, err));
        if (!e->request->safetensors)
            ATTEST_TRY(attest_npy_write(path, t, err));
        attest_tensor_id_print(name[there], sizeof name[there], ids[i]);
        list[there] = (attest_named_tensor){ name[there], t };
        there++;
    }
    if (e->request->safetensors && there > 0)
        status = attest_safetensors_write(path, list, there, err);
out:
    return status;
}

static attest_status add_tensor(json_t *list, const exporting *e, const char *folder, const attest_tensor *t,
                                attest_tensor_id id, int input, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], name[32], file[ATTEST_EXCHANGE_FILE];
    attest_tensor_id_print(name, sizeof name, id);
    name_file(file, e, id, input);
    const attest_status status = attest_exchange_path(path, e->request->dir, folder, file, err);
    if (status == ATTEST_OK)
        json_object_set_new(list, name, tensor_to_json(t, folder, file, input ? path : NULL));
    return status;
}

static attest_status write_line(const exporting *e, const char *folder, const attest_prepared *prepared,
                                attest_error *err)
{
    const attest_case *c = &prepared->c;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    json_t *object = json_object(), *inputs = json_object(), *outputs = json_object();
    json_object_set_new(object, "case", attest_json_text(folder));
    json_object_set_new(object, "problem", attest_json_text(prepared->line));
    json_object_set_new(object, "suite", attest_json_text(e->request->suite->name));
    json_object_set_new(object, "keys", keys_to_json(c));
    json_object_set_new(object, "inputs", inputs);
    json_object_set_new(object, "outputs", outputs);
    if (e->declare[0])
        json_object_set_new(object, "declare", attest_json_text(e->declare));
    const size_t in = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    ATTEST_TRY(write_tensors(e, folder, prepared->inputs, ids, in, 1, err));
    for (size_t i = 0; i < in; i++)
        ATTEST_TRY(add_tensor(inputs, e, folder, attest_bundle_get(prepared->inputs, ids[i]), ids[i], 1, err));
    const size_t out = attest_problem_outputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < out; i++) {
        attest_tensor t;
        attest_tensor_describe(&t, &c->problem, ids[i], 0);
        ATTEST_TRY(add_tensor(outputs, e, folder, &t, ids[i], 0, err));
    }
    status = attest_json_line(e->manifest.file, object);
    object = NULL;
    if (status != ATTEST_OK)
        status = attest_print_failed(err, e->manifest.path);
out:
    json_decref(object);
    return status;
}

/* ---- the outputs of a kernel -------------------------------------------------------------------------------- */
static attest_status run_kernel(const exporting *e, const char *folder, const attest_prepared *prepared,
                                attest_error *err)
{
    const attest_subject *subject = e->request->subject;
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, facts, err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, &prepared->c.problem, bundle, e->request->timeout_s,
                                 &run, err));
    if (run.state != ATTEST_RUN_DONE || run.status != ATTEST_OK)
        ATTEST_TRY(attest_fail(err, ATTEST_KERNEL_ERROR, "%s: %s: %s", facts->name, prepared->line, run.why));
    const size_t count = attest_problem_outputs(&prepared->c.problem, ids, ATTEST_MAX_TENSORS);
    status = write_tensors(e, folder, bundle, ids, count, 0, err);
out:
    attest_bundle_free(bundle);
    return status;
}

/* What batches take for it; states of a packed layout are in no file. */
static attest_status declare_kernel(exporting *e, attest_error *err)
{
    const attest_subject *subject = e->request->subject;
    if (!subject)
        return ATTEST_OK;
    const attest_kernel_facts *facts = attest_worker_kernel(subject->worker, subject->index);
    if (facts->flags & ATTEST_PACKED_STATE)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: its states are packed, and files are not", facts->name);
    if (facts->differs)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: what it declares differs by problem", facts->name);
    const attest_declaration d = {
        .numerics = facts->numerics, .form = facts->form, .flags = facts->flags, .outputs = facts->outputs
    };
    return attest_declaration_print(e->declare, sizeof e->declare, &d, err);
}

/* ---- a case ------------------------------------------------------------------------------------------------- */
/* Draws the inputs, without a truth. */
static attest_status draw(attest_prepared *prepared, const attest_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    uint64_t bytes;
    memset(prepared, 0, sizeof *prepared);
    prepared->c = *c;
    ATTEST_TRY(attest_case_print(prepared->line, sizeof prepared->line, c, err));
    ATTEST_TRY(attest_family_check(c, err));
    ATTEST_TRY(attest_problem_memory(&c->problem, &bytes, err));
    ATTEST_TRY(attest_bundle_new(&prepared->inputs, err));
    ATTEST_TRY(attest_draw_missing(prepared->inputs, c, 0, 0, err));
out:
    return status;
}

/* What the bounds of a golden case are for, also in e->declare: the kernel's declaration, else what is assumed. */
static attest_status declare_case(attest_declared *declared, exporting *e, const attest_case *c, attest_error *err)
{
    const attest_export_request *request = e->request;
    attest_status status = ATTEST_OK;
    attest_declaration d;
    char why[256], line[ATTEST_LINE];
    int covered;
    ATTEST_TRY(attest_case_print(line, sizeof line, c, err));
    status = attest_exchange_declared(declared, &d, &covered, why, sizeof why, &request->assumed,
                                      request->subject ? e->declare : "", &c->problem, err);
    if (status != ATTEST_OK)
        return attest_fail_prefix(err, status, line);
    if (!covered)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", line, why));
    status = attest_declaration_print(e->declare, sizeof e->declare, &d, err);
out:
    return status;
}

static attest_status export_case(exporting *e, const attest_case *c, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { .index = 0 };
    attest_declared declared;
    char folder[16], path[ATTEST_EXCHANGE_PATH];
    snprintf(folder, sizeof folder, "%04zu", e->count + 1);
    ATTEST_TRY(e->request->golden ? attest_prepare_inputs(&prepared, c, NULL, err) : draw(&prepared, c, err));
    ATTEST_TRY(attest_exchange_path(path, e->request->dir, folder, "", err));
    ATTEST_TRY(attest_output_dir(path, err));
    if (e->request->golden) {
        ATTEST_TRY(declare_case(&declared, e, c, err));
        ATTEST_TRY(attest_golden_case(&e->golden, &prepared, folder, &declared, err));
    }
    ATTEST_TRY(write_line(e, folder, &prepared, err));
    if (e->request->subject)
        ATTEST_TRY(run_kernel(e, folder, &prepared, err));
    e->count++;
out:
    attest_prepared_clear(&prepared);
    return status;
}

/* Where there is no answer the run tells what kind of end that is. */
static int serves(const exporting *e, const attest_problem *p)
{
    const attest_subject *subject = e->request->subject;
    char why[256];
    return !subject || attest_worker_supports(subject->worker, subject->index, p, why, sizeof why) != 0;
}

/* Outputs of an earlier export must not be judged as new. */
static attest_status must_be_empty(const char *dir, attest_error *err)
{
    DIR *folder = opendir(dir);
    int entries = 0;
    if (!folder)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot read: %s", dir, strerror(errno));
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(folder)) != NULL)
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    const int wrong = errno;
    closedir(folder);
    if (wrong)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: cannot read: %s", dir, strerror(wrong));
    if (entries > 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: not empty; an export goes into a new folder", dir);
    return ATTEST_OK;
}

/* Before anything is written: is there a bound for each case? */
static attest_status check_declarations(exporting *e, attest_error *err)
{
    const attest_suite *suite = e->request->suite;
    attest_status status = ATTEST_OK;
    attest_declared declared;
    for (size_t i = 0; i < suite->case_count && e->request->golden && status == ATTEST_OK; i++) {
        attest_case c;
        attest_suite_case(&c, suite, i);
        if (serves(e, &c.problem))
            status = declare_case(&declared, e, &c, err);
    }
    return status;
}

/* cases.jsonl and golden.txt, until they are closed well. */
static attest_status open_lists(exporting *e, attest_error *err)
{
    const attest_export_request *request = e->request;
    char path[ATTEST_EXCHANGE_PATH];
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_exchange_path(path, request->dir, NULL, "cases.jsonl", err));
    ATTEST_TRY(attest_output_open(&e->manifest, path, err));
    if (!request->golden)
        goto out;
    ATTEST_TRY(attest_exchange_path(path, request->dir, NULL, ATTEST_GOLDEN_LIST, err));
    ATTEST_TRY(attest_output_open(&e->list, path, err));
    e->golden = (attest_golden){ .list = e->list.file, .dir = request->dir, .suite = request->suite };
    status = attest_golden_begin(&e->golden, err);
out:
    return status;
}

attest_status attest_export(attest_exported *done, const attest_export_request *request, attest_error *err)
{
    attest_status status = ATTEST_OK;
    exporting e = { .request = request };
    *done = (attest_exported){ .count = 0 };
    ATTEST_TRY(declare_kernel(&e, err));
    ATTEST_TRY(check_declarations(&e, err));
    ATTEST_TRY(attest_output_dir(request->dir, err));
    ATTEST_TRY(must_be_empty(request->dir, err));
    ATTEST_TRY(open_lists(&e, err));
    for (size_t i = 0; i < request->suite->case_count; i++) {
        attest_case c;
        attest_suite_case(&c, request->suite, i);
        if (serves(&e, &c.problem))
            ATTEST_TRY(export_case(&e, &c, err));
    }
    if (e.count == 0)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "the kernel serves no case of suite %s", request->suite->name));
    if (request->golden)
        status = attest_golden_end(&e.golden, err);
out:
    if (e.list.file)
        status = attest_output_close(&e.list, status, err);
    if (e.manifest.file)
        status = attest_output_close(&e.manifest, status, err);
    *done = (attest_exported){ .count = e.count, .open = e.golden.open };
    return status;
}

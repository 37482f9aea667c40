/* exchange_files.c - see exchange_files.h. */
#include "verify/exchange/exchange_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/input.h"
#include "kernels/text.h"

#define MANIFEST "cases.jsonl"
#define SKIP "skip.txt"

attest_status attest_exchange_path(char path[ATTEST_EXCHANGE_PATH], const char *dir, const char *folder,
                                   const char *name, attest_error *err)
{
    const int len = snprintf(path, ATTEST_EXCHANGE_PATH, "%s/%s%s%s", dir, folder ? folder : "", folder ? "/" : "",
                             name);
    return len < ATTEST_EXCHANGE_PATH ? ATTEST_OK
                                      : attest_fail(err, ATTEST_BAD_INPUT, "%.200s..: the path is too long", dir);
}

/* ---- cases.jsonl -------------------------------------------------------------------------------------------- */
static attest_status take_text(char *to, size_t size, const json_t *object, const char *key, int needed,
                               attest_error *err)
{
    const char *text = json_string_value(json_object_get(object, key));
    to[0] = '\0';
    if (!text)
        return needed ? attest_fail(err, ATTEST_BAD_INPUT, "'%s' is missing or no text", key) : ATTEST_OK;
    if (strlen(text) >= size)
        return attest_fail(err, ATTEST_BAD_INPUT, "'%s' is longer than %zu bytes", key, size - 1);
    strcpy(to, text);
    return ATTEST_OK;
}

static attest_status take_case(attest_exchanged *e, const char *text, attest_error *err)
{
    json_error_t wrong;
    attest_status status = ATTEST_OK;
    e->object = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    if (attest_starved())
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory to read it");
    if (!e->object)
        return attest_fail(err, ATTEST_BAD_INPUT, "no JSON: %s", wrong.text);
    ATTEST_TRY(take_text(e->folder, sizeof e->folder, e->object, "case", 1, err));
    ATTEST_TRY(take_text(e->line, sizeof e->line, e->object, "problem", 1, err));
    ATTEST_TRY(take_text(e->suite, sizeof e->suite, e->object, "suite", 0, err));
    ATTEST_TRY(take_text(e->declare, sizeof e->declare, e->object, "declare", 0, err));
    e->inputs = json_object_get(e->object, "inputs");
    const char *q = json_string_value(json_object_get(json_object_get(e->inputs, "q"), "file"));
    e->safetensors = q && strcmp(q + strcspn(q, "/"), "/inputs.safetensors") == 0;
    if (e->folder[0] == '\0' || strspn(e->folder, "0123456789") != strlen(e->folder))
        return attest_fail(err, ATTEST_BAD_INPUT, "'case' is '%s', not a number", e->folder);
    status = attest_case_parse(&e->c, e->line, NULL, NULL, err);
out:
    return status;
}

static int by_folder(const void *a, const void *b)
{
    const attest_exchanged *const *x = a, *const *y = b;
    return strcmp((*x)->folder, (*y)->folder);
}

/* A folder that two lines name would be judged twice. */
static attest_status each_once(const attest_exchanged *cases, size_t count, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const attest_exchanged **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &cases[i];
    qsort(sorted, count, sizeof *sorted, by_folder);
    for (size_t i = 1; i < count && status == ATTEST_OK; i++)
        if (by_folder(&sorted[i - 1], &sorted[i]) == 0)
            status = attest_fail(err, ATTEST_BAD_INPUT, "%s: two lines have the case %s", path, sorted[i]->folder);
    free(sorted);
    return status;
}

attest_status attest_exchange_read(attest_exchanged **cases, size_t *count, const char *dir, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], where[ATTEST_EXCHANGE_PATH + 32], *text = NULL;
    attest_status status = ATTEST_OK;
    size_t room = 0, capacity = 0;
    FILE *in = NULL;
    *cases = NULL;
    *count = 0;
    ATTEST_TRY(attest_exchange_path(path, dir, NULL, MANIFEST, err));
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    while (getline(&text, &room, in) >= 0) {
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            attest_exchanged *grown = realloc(*cases, capacity * sizeof *grown);
            if (!grown)
                ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu cases", capacity));
            *cases = grown;
        }
        attest_exchanged *e = &(*cases)[(*count)++];
        memset(e, 0, sizeof *e);
        status = take_case(e, text, err);
        snprintf(where, sizeof where, "%s:%zu", path, *count);
        if (status != ATTEST_OK)
            ATTEST_TRY(attest_fail_prefix(err, status, where));
    }
    ATTEST_TRY(attest_input_ended(in, path, err));
    status = *count == 0 ? attest_fail(err, ATTEST_BAD_INPUT, "%s: no case", path)
                         : each_once(*cases, *count, path, err);
out:
    free(text);
    if (in)
        fclose(in);
    if (status != ATTEST_OK) {
        attest_exchange_free(*cases, *count);
        *cases = NULL;
        *count = 0;
    }
    return status;
}

void attest_exchange_free(attest_exchanged *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_decref(cases[i].object);
    free(cases);
}

/* ---- files of a case ---------------------------------------------------------------------------------------- */
static int is_there(const char *path) { return access(path, F_OK) == 0; }

attest_status attest_exchange_load(attest_bundle *inputs, attest_bundle *outputs, const attest_exchanged *e,
                                   const char *dir, attest_error *err)
{
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    char file[ATTEST_EXCHANGE_FILE];
    attest_status status = ATTEST_OK;
    size_t first_output;
    const size_t count = attest_exchange_ids(ids, &first_output, &e->c.problem);
    for (size_t i = 0; i < count; i++) {
        if (i < first_output)
            attest_exchange_input(file, e, ids[i]);
        else
            ATTEST_TRY(attest_exchange_output(file, e, dir, ids[i], err));
        if (*file)
            ATTEST_TRY(attest_exchange_tensor(i < first_output ? inputs : outputs, e, dir, file, ids[i], err));
    }
out:
    return status;
}

int attest_exchange_skips(char *why, size_t len, const attest_exchanged *e, const char *dir)
{
    char path[ATTEST_EXCHANGE_PATH], text[160] = "";
    attest_error err;
    if (attest_exchange_path(path, dir, e->folder, SKIP, &err) != ATTEST_OK)
        return 0;
    FILE *in = NULL;
    if (attest_input_stream(&in, NULL, path, &err) != ATTEST_OK)
        return 0;
    if (!fgets(text, sizeof text, in))
        text[0] = '\0';
    fclose(in);
    text[strcspn(text, "\r\n")] = '\0';
    attest_text_clean(why, len, *text ? text : SKIP);
    return 1;
}

/* ---- what is wrong with a folder ---------------------------------------------------------------------------- */
/* The first thing that is wrong, and how many are. */
typedef struct complaints {
    attest_error first;
    size_t count;
} complaints;

static void complain(complaints *all, const attest_error *err)
{
    if (all->count++ == 0)
        all->first = *err;
}

/* One input: there, and the bytes that were exported. */
static void check_input(complaints *all, const attest_exchanged *e, const char *path, const char *name)
{
    const char *was = json_string_value(json_object_get(json_object_get(e->inputs, name), "hash"));
    char is[20];
    attest_error err;
    attest_file_hash(is, path);
    if (!*is)
        attest_fail(&err, ATTEST_BAD_INPUT, "%s: missing", path);
    else if (was && strcmp(was, is) != 0)
        attest_fail(&err, ATTEST_BAD_INPUT, "%s: not the input that was exported", path);
    else
        return;
    complain(all, &err);
}

static attest_status check_inputs(complaints *all, const attest_exchanged *e, const char *dir,
                                  const attest_tensor_id *ids, size_t count, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], file[ATTEST_EXCHANGE_FILE], name[40];
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < count && (i == 0 || !e->safetensors); i++) {
        attest_exchange_input(file, e, ids[i]);
        ATTEST_TRY(attest_exchange_path(path, dir, e->folder, file, err));
        attest_tensor_id_print(name, sizeof name, ids[i]);
        check_input(all, e, path, name);
    }
out:
    return status;
}

/* One output: in one file, that can be read; o must be there. */
static attest_status check_output(const attest_exchanged *e, const char *dir, attest_tensor_id id,
                                  attest_bundle *scratch, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], file[ATTEST_EXCHANGE_FILE];
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_exchange_output(file, e, dir, id, err));
    if (*file) {
        if (strcmp(file, ATTEST_EXCHANGE_OUTPUTS) != 0)
            ATTEST_TRY(attest_exchange_names(e, dir, file, err));
        ATTEST_TRY(attest_exchange_tensor(scratch, e, dir, file, id, err));
    } else if (id.kind == ATTEST_KIND_ROLE && id.index == ATTEST_O) {
        ATTEST_TRY(attest_exchange_path(path, dir, e->folder, "o.npy", err));
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: missing", path);
    }
out:
    return status;
}

/* skip.txt, and outputs.safetensors as a whole. */
static attest_status check_others(complaints *all, const attest_exchanged *e, const char *dir, int skipped,
                                  attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH];
    attest_status status = ATTEST_OK;
    attest_error wrong;
    ATTEST_TRY(attest_exchange_path(path, dir, e->folder, SKIP, err));
    if (!skipped && is_there(path)) {
        attest_fail(&wrong, ATTEST_BAD_INPUT, "%s: it cannot be read; allowed: a text file, its first line the reason",
                    path);
        complain(all, &wrong);
    }
    ATTEST_TRY(attest_exchange_path(path, dir, e->folder, ATTEST_EXCHANGE_OUTPUTS, err));
    if (skipped || !is_there(path))
        goto out;
    status = attest_exchange_names(e, dir, ATTEST_EXCHANGE_OUTPUTS, &wrong);
    if (status == ATTEST_NO_MEMORY)
        ATTEST_TRY(attest_fail(err, status, "%s", wrong.text));
    if (status != ATTEST_OK)
        complain(all, &wrong);
    status = ATTEST_OK;
out:
    return status;
}

static attest_status check_files(complaints *all, const attest_exchanged *e, const char *dir, attest_error *err)
{
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    char why[160];
    attest_status status = ATTEST_OK;
    attest_bundle *scratch = NULL;
    attest_error wrong;
    size_t first_output;
    const size_t count = attest_exchange_ids(ids, &first_output, &e->c.problem);
    const int skipped = attest_exchange_skips(why, sizeof why, e, dir);
    ATTEST_TRY(attest_bundle_new(&scratch, err));
    if (!skipped)
        ATTEST_TRY(check_inputs(all, e, dir, ids, first_output, err));
    ATTEST_TRY(check_others(all, e, dir, skipped, err));
    for (size_t i = first_output; i < count && !skipped; i++) {
        status = check_output(e, dir, ids[i], scratch, &wrong);
        if (status == ATTEST_NO_MEMORY)
            ATTEST_TRY(attest_fail(err, status, "%s", wrong.text));
        if (status != ATTEST_OK)
            complain(all, &wrong);
        status = ATTEST_OK;
    }
out:
    attest_bundle_free(scratch);
    return status;
}

/* Arrays in a folder that belong to no case; `e` NULL: in DIR itself. */
static attest_status check_names(complaints *all, const attest_exchanged *e, const char *dir, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH];
    attest_error wrong;
    attest_status status = attest_exchange_path(path, dir, e ? e->folder : NULL, "", err);
    DIR *folder = status == ATTEST_OK ? opendir(path) : NULL;
    if (status == ATTEST_OK && !folder && errno != ENOENT && errno != ENOTDIR)
        status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s", path, strerror(errno));
    const struct dirent *entry;
    while (folder && (errno = 0, (entry = readdir(folder)) != NULL)) {
        const char *name = entry->d_name;
        if (!attest_exchange_is_array(name) || (e && attest_exchange_belongs(e, name)))
            continue;
        attest_fail(&wrong, ATTEST_BAD_INPUT, "%s%s: %s", path, name,
                    e ? "no output of this case has that name" : "outputs lie in the folders of their cases");
        complain(all, &wrong);
    }
    if (folder && errno)
        status = attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s", path, strerror(errno));
    if (folder)
        closedir(folder);
    return status;
}

/* Folders that are named like cases, and are none. */
static attest_status check_folders(complaints *all, const attest_exchanged *cases, size_t count, const char *dir,
                                   attest_error *err)
{
    DIR *folder = opendir(dir);
    attest_error wrong;
    if (!folder)
        return attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s", dir, strerror(errno));
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        size_t i = 0;
        while (i < count && strcmp(cases[i].folder, name) != 0)
            i++;
        if (i < count || strspn(name, "0123456789") != strlen(name))
            continue;
        attest_fail(&wrong, ATTEST_BAD_INPUT, "%s/%s: no case of " MANIFEST " has this folder", dir, name);
        complain(all, &wrong);
    }
    const attest_status status = errno ? attest_fail(err, attest_of_errno(ATTEST_BAD_INPUT), "%s: cannot be read: %s",
                                                     dir, strerror(errno))
                                       : ATTEST_OK;
    closedir(folder);
    return status;
}

attest_status attest_exchange_check(const attest_exchanged *cases, size_t count, const char *dir, attest_error *err)
{
    complaints all = { .count = 0 };
    attest_status status = ATTEST_OK;
    for (size_t i = 0; i < count; i++) {
        if (!cases[i].taken)
            continue;
        ATTEST_TRY(check_files(&all, &cases[i], dir, err));
        ATTEST_TRY(check_names(&all, &cases[i], dir, err));
    }
    ATTEST_TRY(check_names(&all, NULL, dir, err));
    ATTEST_TRY(check_folders(&all, cases, count, dir, err));
    if (all.count == 1)
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s", all.first.text);
    else if (all.count > 1)
        status = attest_fail(err, ATTEST_BAD_INPUT,
                             "%s (and %zu more files are missing, extra or not as their case "
                             "needs)",
                             all.first.text, all.count - 1);
out:
    return status;
}

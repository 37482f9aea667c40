/* exchange_tensors.c - which file of a case holds a tensor, .npy or .safetensors; see exchange_files.h. */
#include "verify/exchange/exchange_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/npy/npy.h"
#include "kernels/safetensors/safetensors.h"

#define INPUTS "inputs.safetensors"

static int ends_with(const char *name, const char *end)
{
    const size_t len = strlen(name), tail = strlen(end);
    return len >= tail && strcmp(name + len - tail, end) == 0;
}

size_t attest_exchange_ids(attest_tensor_id ids[2 * ATTEST_MAX_TENSORS], size_t *first_output, const attest_problem *p)
{
    *first_output = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    return *first_output + attest_problem_outputs(p, ids + *first_output, ATTEST_MAX_TENSORS);
}

/* ---- finding ------------------------------------------------------------------------------------------------ */
void attest_exchange_input(char file[ATTEST_EXCHANGE_FILE], const attest_exchanged *e, attest_tensor_id id)
{
    char name[32];
    attest_tensor_id_print(name, sizeof name, id);
    snprintf(file, ATTEST_EXCHANGE_FILE, "%s", INPUTS);
    if (!e->safetensors)
        snprintf(file, ATTEST_EXCHANGE_FILE, "%s.npy", name);
}

static int has_name(const attest_safetensors *in, const char *name)
{
    for (size_t i = 0; i < attest_safetensors_count(in); i++)
        if (strcmp(attest_safetensors_name(in, i), name) == 0)
            return 1;
    return 0;
}

/* Is there a tensor of this name in the file? */
static attest_status holds(int *yes, const char *path, const char *name, attest_error *err)
{
    attest_safetensors *in = NULL;
    const attest_status status = attest_safetensors_open(&in, path, err);
    *yes = status == ATTEST_OK && has_name(in, name);
    attest_safetensors_close(in);
    return status;
}

attest_status attest_exchange_output(char file[ATTEST_EXCHANGE_FILE], const attest_exchanged *e, const char *dir,
                                     attest_tensor_id id, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH], name[32], candidate[3][ATTEST_EXCHANGE_FILE];
    attest_status status = ATTEST_OK;
    file[0] = '\0';
    attest_tensor_id_print(name, sizeof name, id);
    snprintf(candidate[0], sizeof candidate[0], "%s.npy", name);
    snprintf(candidate[1], sizeof candidate[1], "%s.safetensors", name);
    snprintf(candidate[2], sizeof candidate[2], "%s", ATTEST_EXCHANGE_OUTPUTS);
    for (size_t k = 0; k < 3; k++) {
        int yes = 1;
        ATTEST_TRY(attest_exchange_path(path, dir, e->folder, candidate[k], err));
        if (access(path, F_OK) != 0)
            continue;
        if (k == 2)
            ATTEST_TRY(holds(&yes, path, name, err));
        if (yes && *file)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %s is in %s too; allowed: one file", path, name, file));
        if (yes)
            strcpy(file, candidate[k]);
    }
out:
    if (status != ATTEST_OK)
        file[0] = '\0';
    return status;
}

/* ---- reading ------------------------------------------------------------------------------------------------ */
attest_status attest_exchange_tensor(attest_bundle *bundle, const attest_exchanged *e, const char *dir,
                                     const char *file, attest_tensor_id id, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH];
    attest_status status = ATTEST_OK;
    attest_safetensors *in = NULL;
    ATTEST_TRY(attest_exchange_path(path, dir, e->folder, file, err));
    if (ends_with(file, ".npy")) {
        status = attest_npy_load(bundle, &e->c.problem, id, path, 0, err);
    } else {
        ATTEST_TRY(attest_safetensors_open(&in, path, err));
        status = attest_safetensors_load(bundle, &e->c.problem, id, in, err);
    }
out:
    attest_safetensors_close(in);
    return status;
}

static int is_output(const attest_exchanged *e, const char *name)
{
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    char own[32];
    size_t first_output;
    const size_t count = attest_exchange_ids(ids, &first_output, &e->c.problem);
    for (size_t i = first_output; i < count; i++) {
        attest_tensor_id_print(own, sizeof own, ids[i]);
        if (strcmp(own, name) == 0)
            return 1;
    }
    return 0;
}

attest_status attest_exchange_names(const attest_exchanged *e, const char *dir, const char *file, attest_error *err)
{
    char path[ATTEST_EXCHANGE_PATH];
    attest_status status = ATTEST_OK;
    attest_safetensors *in = NULL;
    if (!ends_with(file, ".safetensors"))
        return ATTEST_OK;
    const int alone = strcmp(file, ATTEST_EXCHANGE_OUTPUTS) != 0;
    ATTEST_TRY(attest_exchange_path(path, dir, e->folder, file, err));
    ATTEST_TRY(attest_safetensors_open(&in, path, err));
    for (size_t i = 0; i < attest_safetensors_count(in); i++) {
        const char *name = attest_safetensors_name(in, i);
        const int own = strncmp(file, name, strlen(name)) == 0 && strcmp(file + strlen(name), ".safetensors") == 0;
        if (alone ? !own : !is_output(e, name))
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %.80s: no output of this %s has that name", path, name,
                                   alone ? "file" : "case"));
    }
out:
    attest_safetensors_close(in);
    return status;
}

/* ---- names of files ----------------------------------------------------------------------------------------- */
int attest_exchange_is_array(const char *file) { return ends_with(file, ".npy") || ends_with(file, ".safetensors"); }

int attest_exchange_belongs(const attest_exchanged *e, const char *file)
{
    static const char *const ends[] = { ".npy", ".safetensors", ".truth.npy", ".golden.npy" };
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    char name[32], own[ATTEST_EXCHANGE_FILE];
    size_t first_output;
    const size_t count = attest_exchange_ids(ids, &first_output, &e->c.problem);
    for (size_t i = 0; i < count; i++) {
        attest_exchange_input(own, e, ids[i]);
        if (i < first_output && strcmp(own, file) == 0)
            return 1;
        attest_tensor_id_print(name, sizeof name, ids[i]);
        for (size_t k = 0; k < sizeof ends / sizeof ends[0] && i >= first_output; k++) {
            snprintf(own, sizeof own, "%s%s", name, ends[k]);
            if (strcmp(own, file) == 0)
                return 1;
        }
    }
    return strcmp(file, ATTEST_EXCHANGE_OUTPUTS) == 0;
}

/* door_files.c - the tensors of a call as files in the folder of a door. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/door/door_private.h"
#include "kernels/input.h"
#include "kernels/npy/npy.h"
#include "kernels/tensor/packed.h"
#include "kernels/tensor/pages.h"

static const attest_tensor *tensor_of(const attest_call *call, attest_tensor_id id)
{
    const attest_tensors *t = call->tensors;
    const attest_tensor *const *const slot[5] = { t->role, t->h0, t->z0, t->ht, t->zt };
    return slot[id.kind][id.index];
}

static attest_status path_of(char path[ATTEST_DOOR_PATH], const attest_door *door, attest_tensor_id id,
                             const char *ending, attest_error *err)
{
    char name[40];
    attest_tensor_id_print(name, sizeof name, id);
    return snprintf(path, ATTEST_DOOR_PATH, "%s/%s%s", door->folder, name, ending) < ATTEST_DOOR_PATH
               ? ATTEST_OK
               : attest_fail(err, ATTEST_IO, "%s: the path is too long", door->folder);
}

/* What the program reads: the problem's inputs, where k and v are in pages the table of these, and where sequences are
 * packed where they begin. */
static size_t inputs_of(const attest_problem *p, attest_tensor_id *ids)
{
    size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS - 3);
    if (attest_pages_are(p))
        ids[count++] = (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_BLOCK_TABLE };
    for (uint32_t role = ATTEST_CU_SEQLENS_Q; attest_packed_are(p) && role <= ATTEST_CU_SEQLENS_K; role++)
        ids[count++] = (attest_tensor_id){ ATTEST_KIND_ROLE, role };
    return count;
}

attest_status attest_door_write(const attest_door *door, const attest_call *call, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    char path[ATTEST_DOOR_PATH];
    const size_t count = inputs_of(call->problem, ids);
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = tensor_of(call, ids[i]);
        if (!t)
            continue;
        ATTEST_TRY(path_of(path, door, ids[i], ".npy", err));
        ATTEST_TRY(attest_npy_write(path, t, err));
    }
out:
    return status;
}

static attest_status read_array(const attest_tensor *t, const char *path, attest_error *err)
{
    attest_npy a = { 0 };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_npy_read(&a, path, t->dtype, err));
    int same = a.rank == t->rank;
    for (int axis = 0; same && axis < t->rank; axis++)
        same = a.shape[axis] == t->shape[axis];
    if (!same)
        ATTEST_TRY(attest_fail(err, ATTEST_KERNEL_ERROR, "%s: another shape than the output's", path));
    memcpy(t->data, a.data, attest_tensor_bytes(t));
out:
    attest_npy_free(&a);
    return status;
}

/* The number of a text as an f64 from which one more rounding, to a narrower type, is that of the text: cut toward
 * zero, its last bit set where that was inexact (rounding to odd; 53 digits are more than 24 + 2). */
static double text_to_odd(const char *text, char **end)
{
    const int mode = fegetround();
    fesetround(FE_DOWNWARD);
    const double below = strtod(text, end);
    fesetround(FE_UPWARD);
    const double above = strtod(text, end);
    fesetround(mode);
    uint64_t bits;
    double odd = fabs(below) < fabs(above) ? below : above;
    memcpy(&bits, &odd, sizeof bits);
    if (below < above)
        bits |= 1;
    memcpy(&odd, &bits, sizeof odd);
    return odd;
}

/* Numbers as text, each rounded once, to the type of the tensor. */
static attest_status read_text(const attest_tensor *t, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int64_t count = attest_tensor_count(t);
    FILE *in = NULL;
    char *word = NULL, *end;
    int64_t i = 0;
    ATTEST_TRY(attest_input_stream(&in, NULL, path, err));
    for (; fscanf(in, "%ms", &word) == 1; i++, free(word), word = NULL) {
        const double x = t->dtype == ATTEST_F64 ? strtod(word, &end) : text_to_odd(word, &end);
        if (end == word || *end != '\0')
            ATTEST_TRY(attest_fail(err, ATTEST_KERNEL_ERROR, "%s: '%.100s' is no number", path, word));
        if (i < count)
            attest_store_bits(t, i, attest_from_f64(t->dtype, x));
    }
    if (i != count)
        status = attest_fail(err, ATTEST_KERNEL_ERROR, "%s: %lld numbers, the output has %lld", path, (long long)i,
                             (long long)count);
out:
    free(word);
    if (in)
        fclose(in);
    return status;
}

attest_status attest_door_read(const attest_door *door, const attest_call *call, attest_error *err)
{
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    attest_status status = ATTEST_OK;
    char path[ATTEST_DOOR_PATH], text[ATTEST_DOOR_PATH];
    const size_t count = attest_problem_outputs(call->problem, ids, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = tensor_of(call, ids[i]);
        if (!t)
            continue;
        ATTEST_TRY(path_of(path, door, ids[i], ".npy", err));
        ATTEST_TRY(path_of(text, door, ids[i], ".txt", err));
        if (access(path, F_OK) == 0)
            ATTEST_TRY(read_array(t, path, err));
        else if (access(text, F_OK) == 0)
            ATTEST_TRY(read_text(t, text, err));
        else
            ATTEST_TRY(attest_fail(err, ATTEST_KERNEL_ERROR, "said ok, but wrote no %s", strrchr(path, '/') + 1));
    }
out:
    return status;
}

void attest_door_clean(const attest_door *door, const attest_call *call)
{
    attest_tensor_id ids[2 * ATTEST_MAX_TENSORS];
    char path[ATTEST_DOOR_PATH];
    attest_error err;
    size_t count = inputs_of(call->problem, ids);
    count += attest_problem_outputs(call->problem, ids + count, ATTEST_MAX_TENSORS);
    for (size_t i = 0; i < count; i++) {
        if (path_of(path, door, ids[i], ".npy", &err) == ATTEST_OK)
            unlink(path);
        if (path_of(path, door, ids[i], ".txt", &err) == ATTEST_OK)
            unlink(path);
    }
}

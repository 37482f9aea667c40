/* safetensors_write.c - writes .safetensors files, and the table of their types; see safetensors.h. */
#include "kernels/safetensors/safetensors_types.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ALIGNED 8

static const safetensors_type types[] = { { "F32", ATTEST_F32, 4 },         { "F64", ATTEST_F64, 8 },
                                          { "F16", ATTEST_F16, 2 },         { "BF16", ATTEST_BF16, 2 },
                                          { "I64", ATTEST_I64, 8 },         { "I32", ATTEST_I64, 4 },
                                          { "BOOL", ATTEST_BOOL, 1 },       { "U8", ATTEST_BOOL, 1 },
                                          { "F8_E4M3", ATTEST_F8_E4M3, 1 }, { "F8_E5M2", ATTEST_F8_E5M2, 1 } };
#define TYPE_COUNT (sizeof types / sizeof types[0])

const safetensors_type *safetensors_type_of(const char *text)
{
    for (size_t k = 0; k < TYPE_COUNT; k++)
        if (strcmp(types[k].text, text) == 0)
            return &types[k];
    return NULL;
}

const safetensors_type *safetensors_type_for(uint32_t dtype)
{
    for (size_t k = 0; k < TYPE_COUNT; k++)
        if (types[k].dtype == dtype)
            return &types[k];
    return NULL;
}

/* {NAME: {dtype, shape, data_offsets}, ..}, malloc'd by jansson; NULL: no memory. */
static char *format_header(const attest_named_tensor *tensors, size_t count)
{
    json_t *header = json_object();
    json_int_t at = 0;
    int bad = !header;
    for (size_t i = 0; i < count; i++) {
        const attest_tensor *t = tensors[i].tensor;
        const json_int_t end = at + (json_int_t)attest_tensor_bytes(t);
        json_t *shape = json_array();
        for (int axis = 0; axis < t->rank; axis++)
            bad |= json_array_append_new(shape, json_integer((json_int_t)t->shape[axis]));
        json_t *object = json_pack("{s:s,s:o,s:[I,I]}", "dtype", safetensors_type_for(t->dtype)->text, "shape", shape,
                                   "data_offsets", at, end);
        bad |= !object || json_object_set_new(header, tensors[i].name, object);
        at = end;
    }
    char *text = bad ? NULL : json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

/* The tensors by falling size of an element, else in the order given: each begins at a multiple of that size.  NULL: no
 * memory. */
static attest_named_tensor *by_size(const attest_named_tensor *tensors, size_t count)
{
    attest_named_tensor *sorted = calloc(count + 1, sizeof *sorted);
    size_t done = 0;
    for (size_t size = ALIGNED; sorted && size > 0; size--)
        for (size_t i = 0; i < count; i++)
            if (attest_dtype_bytes(tensors[i].tensor->dtype) == size)
                sorted[done++] = tensors[i];
    return sorted;
}

static int write_all(FILE *file, const char *header, const attest_named_tensor *tensors, size_t count)
{
    const size_t length = strlen(header), padded = (length + ALIGNED - 1) / ALIGNED * ALIGNED;
    unsigned char prefix[8];
    for (int k = 0; k < 8; k++)
        prefix[k] = (unsigned char)((uint64_t)padded >> 8 * k);
    int good = fwrite(prefix, 1, 8, file) == 8 && fwrite(header, 1, length, file) == length;
    good = good && fprintf(file, "%*s", (int)(padded - length), "") >= 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = attest_tensor_bytes(tensors[i].tensor);
        good = good && fwrite(tensors[i].tensor->data, 1, bytes, file) == bytes;
    }
    return good;
}

attest_status attest_safetensors_write(const char *path, const attest_named_tensor *tensors, size_t count,
                                       attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *header = NULL, *partial = NULL;
    attest_named_tensor *sorted = NULL;
    void (*release)(void *);
    json_get_alloc_funcs(NULL, &release);
    for (size_t i = 0; i < count; i++)
        if (!safetensors_type_for(tensors[i].tensor->dtype) || !attest_tensor_in_order(tensors[i].tensor))
            return attest_fail(err, ATTEST_INTERNAL, "%s: %s: only C-order tensors are written", path, tensors[i].name);
    sorted = by_size(tensors, count);
    header = sorted ? format_header(sorted, count) : NULL;
    if (!header || asprintf(&partial, "%s.%ld000.tmp", path, (long)getpid()) < 0) {
        partial = NULL;
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for its header", path));
    }
    FILE *file = fopen(partial, "wbe");
    if (!file)
        ATTEST_TRY(attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno)));
    int good = write_all(file, header, sorted, count);
    good = fclose(file) == 0 && good;
    if (!good || rename(partial, path) != 0) {
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno));
        unlink(partial);
    }
out:
    free(sorted);
    free(partial);
    if (header)
        release(header);
    return status;
}

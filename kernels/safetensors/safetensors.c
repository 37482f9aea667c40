/* safetensors.c - reads .safetensors files; see safetensors.h.  The header is checked as a whole before any data is
 * read: entries are sorted by where they begin, and each must begin where the one before it ends. */
#include "kernels/safetensors/safetensors_types.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"

#define PREFIX 8
#define METADATA "__metadata__"

typedef struct entry {
    const char *name; /* of the header */
    const safetensors_type *type;
    int rank;
    int64_t shape[ATTEST_NPY_AXES];
    uint64_t first, end; /* bytes from the begin of the data */
} entry;

struct attest_safetensors {
    char *path;
    int fd;
    uint64_t data, data_bytes; /* where the data begins, and its length */
    json_t *header;
    entry *entries; /* by `first` */
    size_t count;
};

/* ---- an entry ----------------------------------------------------------------------------------------------- */
static attest_status wrong_entry(const attest_safetensors *file, const char *name, const char *what, attest_error *err)
{
    return attest_fail(err, ATTEST_BAD_INPUT, "%s: %.80s: %s", file->path, name, what);
}

/* NULL, or what is wrong: an integer of at least `least`. */
static const char *take_integer(int64_t *value, const json_t *number, int64_t least, const char *wrong)
{
    if (!json_is_integer(number) || json_integer_value(number) < least)
        return wrong;
    *value = json_integer_value(number);
    return NULL;
}

static const char *take_type(entry *e, const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "dtype"));
    if (!text)
        return "'dtype' is missing or no text";
    e->type = safetensors_type_of(text);
    return e->type ? NULL : "unknown 'dtype'; allowed: F16, BF16, F32, F64, I32, I64, BOOL, U8, F8_E4M3, F8_E5M2";
}

static const char *take_shape(entry *e, const json_t *object)
{
    const json_t *shape = json_object_get(object, "shape");
    const char *wrong = NULL;
    if (!json_is_array(shape))
        return "'shape' is missing or no list";
    if (json_array_size(shape) > ATTEST_NPY_AXES)
        return "too many axes; allowed: at most 8";
    e->rank = (int)json_array_size(shape);
    for (int axis = 0; axis < e->rank && !wrong; axis++)
        wrong = take_integer(&e->shape[axis], json_array_get(shape, (size_t)axis), 1,
                             "'shape' is not a list of lengths; allowed: integers >= 1");
    return wrong;
}

static const char *take_offsets(entry *e, const json_t *object, uint64_t data_bytes)
{
    static const char wrong[] = "'data_offsets' are not two integers >= 0";
    const json_t *offsets = json_object_get(object, "data_offsets");
    int64_t first, end;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        take_integer(&first, json_array_get(offsets, 0), 0, wrong) ||
        take_integer(&end, json_array_get(offsets, 1), 0, wrong))
        return wrong;
    if (end < first || (uint64_t)end > data_bytes)
        return "'data_offsets' lie outside the data; allowed: first <= end <= what the file holds";
    e->first = (uint64_t)first;
    e->end = (uint64_t)end;
    return NULL;
}

static const char *check_size(const entry *e)
{
    uint64_t bytes = e->type->bytes;
    for (int axis = 0; axis < e->rank; axis++)
        if (__builtin_mul_overflow(bytes, (uint64_t)e->shape[axis], &bytes))
            return "'shape' is too large; allowed: what the file holds";
    return bytes == e->end - e->first ? NULL
                                      : "'dtype' and 'shape' need another number of bytes than 'data_offsets' say";
}

static attest_status take_entry(entry *e, const attest_safetensors *file, const char *name, const json_t *object,
                                attest_error *err)
{
    const char *wrong = json_is_object(object) ? NULL : "not an object of dtype, shape and data_offsets";
    e->name = name;
    wrong = wrong ? wrong : take_type(e, object);
    wrong = wrong ? wrong : take_shape(e, object);
    wrong = wrong ? wrong : take_offsets(e, object, file->data_bytes);
    wrong = wrong ? wrong : json_object_size(object) != 3 ? "another key than dtype, shape and data_offsets" : NULL;
    wrong = wrong ? wrong : check_size(e);
    return wrong ? wrong_entry(file, name, wrong, err) : ATTEST_OK;
}

/* ---- the header --------------------------------------------------------------------------------------------- */
static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x->end > y->end) - (x->end < y->end);
}

/* All bytes of the data are of exactly one tensor. */
static attest_status check_places(const attest_safetensors *file, attest_error *err)
{
    uint64_t at = 0;
    for (size_t i = 0; i < file->count; i++) {
        const entry *e = &file->entries[i];
        if (e->first < at)
            return wrong_entry(file, e->name, "its bytes overlap those of another tensor", err);
        if (e->first > at)
            return wrong_entry(file, e->name, "bytes before it belong to no tensor", err);
        at = e->end;
    }
    return at == file->data_bytes
               ? ATTEST_OK
               : attest_fail(err, ATTEST_BAD_INPUT, "%s: %llu bytes behind the last tensor; allowed: none", file->path,
                             (unsigned long long)(file->data_bytes - at));
}

static attest_status check_metadata(const attest_safetensors *file, json_t *object, attest_error *err)
{
    const char *key;
    json_t *value;
    int texts = json_is_object(object);
    json_object_foreach(object, key, value) texts = texts && json_is_string(value);
    return texts ? ATTEST_OK : wrong_entry(file, METADATA, "not an object of texts", err);
}

static attest_status take_entries(attest_safetensors *file, attest_error *err)
{
    const char *name;
    json_t *object;
    attest_status status = ATTEST_OK;
    file->entries = calloc(json_object_size(file->header) + 1, sizeof *file->entries);
    if (!file->entries)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for its tensors", file->path);
    json_object_foreach(file->header, name, object)
    {
        if (strcmp(name, METADATA) == 0)
            ATTEST_TRY(check_metadata(file, object, err));
        else
            ATTEST_TRY(take_entry(&file->entries[file->count++], file, name, object, err));
    }
    qsort(file->entries, file->count, sizeof *file->entries, by_place);
    status = check_places(file, err);
out:
    return status;
}

/* ---- the file ----------------------------------------------------------------------------------------------- */
static attest_status read_at(const attest_safetensors *file, void *to, uint64_t bytes, uint64_t from, attest_error *err)
{
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t got = pread(file->fd, (char *)to + done, (size_t)(bytes - done), (off_t)(from + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot read: %s", file->path, strerror(errno));
        if (got == 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: it became shorter while it was read", file->path);
        done += (uint64_t)got;
    }
    return ATTEST_OK;
}

static attest_status parse_header(attest_safetensors *file, const char *text, size_t length, attest_error *err)
{
    json_error_t wrong;
    if (length == 0 || text[0] != '{')
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: the header does not begin with '{'; allowed: a JSON object",
                           file->path);
    file->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &wrong);
    if (file->header)
        return take_entries(file, err);
    switch (json_error_code(&wrong)) {
    case json_error_out_of_memory:
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for the header", file->path);
    case json_error_duplicate_key:
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: a name stands twice in the header: %s", file->path, wrong.text);
    default: return attest_fail(err, ATTEST_BAD_INPUT, "%s: the header is no JSON: %s", file->path, wrong.text);
    }
}

static attest_status read_header(attest_safetensors *file, uint64_t size, attest_error *err)
{
    unsigned char prefix[PREFIX];
    attest_status status = ATTEST_OK;
    uint64_t length = 0;
    char *text = NULL;
    if (size < PREFIX)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %llu bytes are too few; allowed: a .safetensors file",
                           file->path, (unsigned long long)size);
    ATTEST_TRY(read_at(file, prefix, PREFIX, 0, err));
    for (int k = PREFIX; k-- > 0;)
        length = length << 8 | prefix[k];
    if (length > size - PREFIX || length > ATTEST_SAFETENSORS_HEADER)
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT,
                               "%s: the header claims %llu bytes; allowed: at most %d, and what the file holds "
                               "(%llu bytes)",
                               file->path, (unsigned long long)length, ATTEST_SAFETENSORS_HEADER,
                               (unsigned long long)size));
    file->data = PREFIX + length;
    file->data_bytes = size - file->data;
    text = malloc((size_t)length + 1);
    if (!text)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for the header", file->path));
    ATTEST_TRY(read_at(file, text, length, PREFIX, err));
    status = parse_header(file, text, (size_t)length, err);
out:
    free(text);
    return status;
}

attest_status attest_safetensors_open(attest_safetensors **file, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    uint64_t size = 0;
    attest_safetensors *f = calloc(1, sizeof *f);
    *file = NULL;
    if (!f)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path);
    f->fd = -1;
    f->path = strdup(path);
    if (!f->path)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory to read it", path));
    ATTEST_TRY(attest_input_open(&f->fd, &size, path, err));
    ATTEST_TRY(read_header(f, size, err));
    *file = f;
    f = NULL;
out:
    attest_safetensors_close(f);
    return status;
}

void attest_safetensors_close(attest_safetensors *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    json_decref(file->header);
    free(file->entries);
    free(file->path);
    free(file);
}

size_t attest_safetensors_count(const attest_safetensors *file) { return file->count; }

const char *attest_safetensors_name(const attest_safetensors *file, size_t index) { return file->entries[index].name; }

/* ---- a tensor ----------------------------------------------------------------------------------------------- */
/* The entry of this name and dtype, and `a` like it, without data. */
static attest_status find(const entry **found, attest_npy *a, const attest_safetensors *file, const char *name,
                          uint32_t want, attest_error *err)
{
    size_t i = 0;
    memset(a, 0, sizeof *a);
    while (i < file->count && strcmp(file->entries[i].name, name) != 0)
        i++;
    if (i == file->count)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: no tensor has the name %s", file->path, name);
    const entry *e = *found = &file->entries[i];
    const int eight = want == ATTEST_F8_E4M3 || want == ATTEST_F8_E5M2;
    if (e->type->dtype != want && !(eight && strcmp(e->type->text, "U8") == 0))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s: dtype %s where %s is declared", file->path, name,
                           e->type->text, attest_dtype_name(want));
    a->dtype = want;
    a->rank = e->rank;
    memcpy(a->shape, e->shape, sizeof a->shape);
    return ATTEST_OK;
}

attest_status attest_safetensors_read(attest_npy *a, const attest_safetensors *file, const char *name, uint32_t want,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    const entry *e = NULL;
    void *data = NULL;
    ATTEST_TRY(find(&e, a, file, name, want, err));
    const uint64_t bytes = e->end - e->first, count = bytes / e->type->bytes;
    data = malloc((size_t)count * attest_dtype_bytes(want));
    if (!data)
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %s", file->path, name);
    ATTEST_TRY(read_at(file, data, bytes, file->data + e->first, err));
    if (e->type->bytes < attest_dtype_bytes(want))
        attest_npy_widen(data, (size_t)count);
    a->data = data;
    data = NULL;
out:
    free(data);
    return status;
}

attest_status attest_safetensors_load(attest_bundle *bundle, const attest_problem *p, attest_tensor_id id,
                                      const attest_safetensors *file, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const entry *e;
    attest_tensor t;
    attest_npy a;
    char name[32];
    attest_tensor_describe(&t, p, id, 0);
    attest_tensor_id_print(name, sizeof name, id);
    ATTEST_TRY(find(&e, &a, file, name, t.dtype, err));
    ATTEST_TRY(attest_npy_fits(&a, p, id, file->path, 0, err));
    ATTEST_TRY(attest_safetensors_read(&a, file, name, t.dtype, err));
    status = attest_npy_take(bundle, p, id, &a, file->path, 0, err);
out:
    return status;
}

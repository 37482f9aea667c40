/* npy.c - .npy files in and out.  The header is a Python dict literal; only what numpy writes is read:
 * the three keys in any order, quoted strings, True or False, a tuple of decimal integers. */
#include "kernels/npy/npy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"

#define HEADER_MAX 65535 /* numpy's own headers stay below 1000 bytes at 8 axes */

/* File types.  `bytes` an element takes in the file; i4 is widened on reading. */
static const struct file_type {
    const char *text;
    uint32_t dtype;
    size_t bytes;
} file_types[] = {
    { "<f4", ATTEST_F32, 4 },     { "<f8", ATTEST_F64, 8 },    { "<f2", ATTEST_F16, 2 },  { "<u2", ATTEST_BF16, 2 },
    { "|V2", ATTEST_BF16, 2 },    { "<V2", ATTEST_BF16, 2 },   { "V2", ATTEST_BF16, 2 },  { "<i8", ATTEST_I64, 8 },
    { "<i4", ATTEST_I64, 4 },     { "|b1", ATTEST_BOOL, 1 },   { "|u1", ATTEST_BOOL, 1 }, { "|V1", ATTEST_F8_E4M3, 1 },
    { "<V1", ATTEST_F8_E4M3, 1 }, { "V1", ATTEST_F8_E4M3, 1 },
};
#define FILE_TYPE_COUNT (sizeof file_types / sizeof file_types[0])

/* The types allowed where a dtype is declared, for messages and for writing (the first one). */
static const char *const allowed_types[ATTEST_DTYPE_COUNT] = {
    [ATTEST_F32] = "<f4",
    [ATTEST_F64] = "<f8",
    [ATTEST_F16] = "<f2",
    [ATTEST_BF16] = "<u2 or V2",
    [ATTEST_I64] = "<i8 or <i4",
    [ATTEST_BOOL] = "|b1 or |u1",
    [ATTEST_F8_E4M3] = "|u1 or |V1",
    [ATTEST_F8_E5M2] = "|u1 or |V1",
};

static const char *allowed_text(uint32_t dtype)
{
    return dtype < ATTEST_DTYPE_COUNT && allowed_types[dtype] ? allowed_types[dtype] : "none";
}

typedef struct header {
    char descr[16];
    int fortran;
    int seen[3]; /* descr, fortran_order, shape */
    int rank;
    int64_t shape[ATTEST_NPY_AXES];
    const struct file_type *type;
    size_t data_bytes; /* in the file */
} header;

/* ---- the dictionary -------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

/* Skips white space; takes `mark` if it comes next. */
static int take(cursor *c, char mark)
{
    skip_space(c);
    if (c->at == c->end || *c->at != mark)
        return 0;
    c->at++;
    return 1;
}

static int take_word(cursor *c, const char *word)
{
    const size_t len = strlen(word);
    skip_space(c);
    if ((size_t)(c->end - c->at) < len || memcmp(c->at, word, len) != 0)
        return 0;
    c->at += len;
    return 1;
}

/* A string in single or double quotes, without escapes and control bytes; 0 if it is none or too long. */
static int take_string(cursor *c, char *text, size_t size)
{
    size_t used = 0;
    const char quote = take(c, '\'') ? '\'' : '"';
    if (quote == '"' && !take(c, '"'))
        return 0;
    for (; c->at < c->end && *c->at != quote; c->at++) {
        if (*c->at < ' ' || *c->at > '~' || *c->at == '\\' || used + 1 >= size)
            return 0;
        text[used++] = *c->at;
    }
    text[used] = '\0';
    return take(c, quote);
}

/* A decimal integer without sign, leading zeros or suffix, below 2^63. */
static const char *take_length(cursor *c, int64_t *value)
{
    int64_t v = 0;
    skip_space(c);
    const char *first = c->at;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
        if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_add_overflow(v, (int64_t)(*c->at - '0'), &v))
            return "a length in 'shape' is too large; allowed: what the file holds";
    if (c->at == first || (*first == '0' && c->at > first + 1))
        return "'shape' is not a tuple of lengths; allowed: decimal integers >= 1";
    if (v == 0)
        return "an axis has length 0; allowed: lengths >= 1";
    *value = v;
    return NULL;
}

static const char *read_shape(cursor *c, header *h)
{
    if (!take(c, '('))
        return "'shape' is not a tuple; allowed: () or (n,) or (n, m)";
    int comma = 1;
    while (!take(c, ')')) {
        if (!comma)
            return "'shape' is not a tuple of lengths; allowed: decimal integers >= 1";
        if (h->rank == ATTEST_NPY_AXES)
            return "too many axes; allowed: at most 8";
        const char *wrong = take_length(c, &h->shape[h->rank]);
        if (wrong)
            return wrong;
        h->rank++;
        comma = take(c, ',');
    }
    return h->rank == 1 && !comma ? "'shape' is not a tuple; allowed: () or (n,) or (n, m)" : NULL;
}

static const char *read_descr(cursor *c, header *h)
{
    skip_space(c);
    if (c->at < c->end && *c->at == '[')
        return "structured dtype; allowed: one plain number a place";
    return take_string(c, h->descr, sizeof h->descr) ? NULL : "'descr' is not a dtype; allowed: e.g. '<f4'";
}

static const char *read_order(cursor *c, header *h)
{
    h->fortran = take_word(c, "True");
    return h->fortran || take_word(c, "False") ? NULL : "'fortran_order' is neither True nor False";
}

/* The whole dictionary; NULL or what is wrong. */
static const char *read_dictionary(header *h, const char *text, size_t len)
{
    static const char *const keys[3] = { "descr", "fortran_order", "shape" };
    static const char *(*const readers[3])(cursor *, header *) = { read_descr, read_order, read_shape };
    cursor c = { text, text + len };
    char key[16];
    if (!take(&c, '{'))
        return "the header is not a dictionary; allowed: descr, fortran_order, shape";
    int comma = 1;
    while (!take(&c, '}')) {
        int k = 0;
        if (!comma || !take_string(&c, key, sizeof key) || !take(&c, ':'))
            return "the header is not a dictionary; allowed: descr, fortran_order, shape";
        while (k < 3 && strcmp(key, keys[k]) != 0)
            k++;
        if (k == 3)
            return "unknown key in the header; allowed: descr, fortran_order, shape";
        if (h->seen[k]++)
            return "repeated key in the header; allowed: descr, fortran_order, shape, each once";
        const char *wrong = readers[k](&c, h);
        if (wrong)
            return wrong;
        comma = take(&c, ',');
    }
    skip_space(&c);
    if (c.at != c.end)
        return "something follows the header's dictionary; allowed: spaces and a newline";
    if (!h->seen[0] || !h->seen[1] || !h->seen[2])
        return "a key is missing in the header; needed: descr, fortran_order, shape";
    return NULL;
}

/* ---- checks of the header -------------------------------------------------------------------------- */

static attest_status check_type(header *h, const char *path, attest_error *err)
{
    for (size_t i = 0; i < FILE_TYPE_COUNT; i++)
        if (strcmp(h->descr, file_types[i].text) == 0)
            h->type = &file_types[i];
    if (h->type)
        return ATTEST_OK;
    if (h->descr[0] == '>')
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: big-endian dtype '%s'; allowed: little endian, e.g. '<f4'", path,
                           h->descr);
    return attest_fail(err, ATTEST_BAD_INPUT,
                       "%s: %sdtype '%s'; allowed: <f2 <f4 <f8, <u2 or V2 as bf16, "
                       "<i4 <i8 for len, |b1 |u1 for attn_mask and keep, |u1 or |V1 as fp8",
                       path, strchr(h->descr, 'O') ? "object " : "", h->descr);
}

/* Shape against the bytes that follow the header. */
static attest_status check_shape(header *h, const char *path, uint64_t data_bytes, attest_error *err)
{
    uint64_t bytes = h->type->bytes;
    int longer = 0, overflow = 0;
    for (int i = 0; i < h->rank; i++) {
        longer += h->shape[i] > 1;
        overflow |= __builtin_mul_overflow(bytes, (uint64_t)h->shape[i], &bytes);
    }
    if (overflow || bytes > INT64_MAX)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: 'shape' needs 2^63 bytes or more; the file holds %llu", path,
                           (unsigned long long)data_bytes);
    if (bytes != data_bytes)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: 'shape' needs %llu bytes of data, the file holds %llu; allowed: "
                           "exactly as many",
                           path, (unsigned long long)bytes, (unsigned long long)data_bytes);
    if (h->fortran && longer > 1)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: Fortran order; allowed: C order (numpy.ascontiguousarray)",
                           path);
    h->data_bytes = (size_t)bytes;
    return ATTEST_OK;
}

/* ---- the file -------------------------------------------------------------------------------------- */

static attest_status read_bytes(int fd, void *to, size_t bytes, const char *path, attest_error *err)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(fd, (char *)to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot read: %s", path, strerror(errno));
        if (got == 0)
            return attest_fail(err, ATTEST_BAD_INPUT, "%s: truncated: %zu bytes; allowed: %zu", path, done, bytes);
        done += (size_t)got;
    }
    return ATTEST_OK;
}

/* Magic, version and the length of the dictionary; *before = bytes up to it. */
static attest_status read_prefix(int fd, uint64_t size, size_t *before, size_t *length, const char *path,
                                 attest_error *err)
{
    unsigned char p[12] = { 0 };
    attest_status status;
    if (size < 10)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %llu bytes are too few; allowed: a .npy file", path,
                           (unsigned long long)size);
    ATTEST_TRY(read_bytes(fd, p, 10, path, err));
    if (memcmp(p, "\x93NUMPY", 6) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: not a .npy file (bad magic); allowed: .npy version 1, 2, 3",
                           path);
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: .npy version %d.%d; allowed: 1.0, 2.0, 3.0", path, p[6], p[7]);
    *before = p[6] == 1 ? 10 : 12;
    if (p[6] > 1)
        ATTEST_TRY(read_bytes(fd, p + 10, 2, path, err));
    *length = (size_t)p[8] | (size_t)p[9] << 8 | (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (*length > size - *before || *length > HEADER_MAX)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "%s: the header claims %zu bytes; allowed: at most %d, and what "
                           "the file holds (%llu bytes)",
                           path, *length, HEADER_MAX, (unsigned long long)size);
    status = ATTEST_OK;
out:
    return status;
}

/* Opens the file and reads its header; the file stands at the data.  *fd is the caller's, -1 if none. */
static attest_status open_array(int *fd, header *h, const char *path, attest_error *err)
{
    attest_status status;
    uint64_t size = 0;
    size_t before = 0, length = 0;
    char *text = NULL;
    memset(h, 0, sizeof *h);
    ATTEST_TRY(attest_input_open(fd, &size, path, err));
    ATTEST_TRY(read_prefix(*fd, size, &before, &length, path, err));
    text = malloc(length + 1);
    if (!text) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for the header", path);
        goto out;
    }
    ATTEST_TRY(read_bytes(*fd, text, length, path, err));
    const char *wrong = read_dictionary(h, text, length);
    if (wrong) {
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, wrong);
        goto out;
    }
    ATTEST_TRY(check_type(h, path, err));
    status = check_shape(h, path, size - before - length, err);
out:
    free(text);
    return status;
}

static void give_header(attest_npy *a, const header *h)
{
    a->dtype = h->type->dtype;
    a->rank = h->rank;
    memcpy(a->shape, h->shape, sizeof a->shape);
}

attest_status attest_npy_header(attest_npy *a, const char *path, attest_error *err)
{
    int fd = -1;
    header h;
    memset(a, 0, sizeof *a);
    const attest_status status = open_array(&fd, &h, path, err);
    if (status == ATTEST_OK)
        give_header(a, &h);
    if (fd >= 0)
        close(fd);
    return status;
}

void attest_npy_widen(void *data, size_t count)
{
    unsigned char *bytes = data;
    for (size_t i = count; i > 0; i--) {
        int32_t narrow;
        memcpy(&narrow, bytes + 4 * (i - 1), sizeof narrow);
        const int64_t wide = narrow;
        memcpy(bytes + 8 * (i - 1), &wide, sizeof wide);
    }
}

/* numpy has no type of 8-bit floats: their bytes are uint8, or V1, as ml_dtypes' float8_e4m3fn is saved. */
static int holds_bytes(const struct file_type *type, uint32_t want)
{
    return (want == ATTEST_F8_E4M3 || want == ATTEST_F8_E5M2) && type->bytes == 1 && strcmp(type->text, "|b1") != 0;
}

attest_status attest_npy_read(attest_npy *a, const char *path, uint32_t want, attest_error *err)
{
    attest_status status;
    int fd = -1;
    header h;
    void *data = NULL;
    memset(a, 0, sizeof *a);
    ATTEST_TRY(open_array(&fd, &h, path, err));
    if (h.type->dtype != want && !holds_bytes(h.type, want)) {
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: dtype '%s' where %s is declared; allowed: %s", path, h.descr,
                             attest_dtype_name(want), allowed_text(want));
        goto out;
    }
    const size_t count = h.data_bytes / h.type->bytes;
    data = count <= SIZE_MAX / 8 ? malloc(count * attest_dtype_bytes(want)) : NULL;
    if (!data) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for %zu elements", path, count);
        goto out;
    }
    ATTEST_TRY(read_bytes(fd, data, h.data_bytes, path, err));
    if (h.type->bytes < attest_dtype_bytes(want))
        attest_npy_widen(data, count);
    give_header(a, &h);
    a->data = data;
    data = NULL;
out:
    free(data);
    if (fd >= 0)
        close(fd);
    return status;
}

void attest_npy_free(attest_npy *a)
{
    if (!a)
        return;
    free(a->data);
    memset(a, 0, sizeof *a);
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Magic, version 1.0 and the dictionary, padded with spaces to a multiple of 64; returns the length. */
static size_t format_header(char *text, size_t size, const attest_tensor *t)
{
    memset(text, ' ', size);
    int used = snprintf(text + 10, size - 10, "{'descr': '%.3s', 'fortran_order': False, 'shape': (",
                        allowed_types[t->dtype]);
    for (int i = 0; i < t->rank; i++)
        used += snprintf(text + 10 + used, size - 10 - (size_t)used, "%lld%s", (long long)t->shape[i],
                         i + 1 < t->rank ? ", "
                         : t->rank == 1  ? ","
                                         : "");
    used += snprintf(text + 10 + used, size - 10 - (size_t)used, "), }");
    text[10 + used] = ' '; /* the end mark of snprintf */
    const size_t total = ((size_t)used + 10 + 1 + 63) / 64 * 64;
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    text[8] = (char)((total - 10) & 255);
    text[9] = (char)((total - 10) >> 8);
    text[total - 1] = '\n';
    return total;
}

attest_status attest_npy_write(const char *path, const attest_tensor *t, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char text[256]; /* at most 10 + 52 + 4*21 + 5 */
    FILE *file = NULL;
    char *partial = NULL;
    if (t->dtype >= ATTEST_DTYPE_COUNT || !allowed_types[t->dtype] || t->rank < 0 || t->rank > 4 ||
        !attest_tensor_in_order(t))
        return attest_fail(err, ATTEST_INTERNAL, "%s: only C-order tensors of at most 4 axes are written", path);
    const size_t header_bytes = format_header(text, sizeof text, t), data_bytes = attest_tensor_bytes(t);
    if (asprintf(&partial, "%s.%ld000.tmp", path, (long)getpid()) < 0) {
        partial = NULL;
        return attest_fail(err, ATTEST_NO_MEMORY, "%s: no memory for its name", path);
    }
    file = fopen(partial, "wbe");
    if (!file) {
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno));
        goto out;
    }
    int good = fwrite(text, 1, header_bytes, file) == header_bytes;
    good = good && fwrite(t->data, 1, data_bytes, file) == data_bytes;
    good = fclose(file) == 0 && good;
    if (!good || rename(partial, path) != 0) {
        status = attest_fail(err, attest_of_errno(ATTEST_IO), "%s: cannot write: %s", path, strerror(errno));
        unlink(partial);
    }
out:
    free(partial);
    return status;
}

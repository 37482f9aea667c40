/* .safetensors files: what is read, what is refused and with which words, every truncation and every changed byte of a
 * header, and what is written. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/safetensors/safetensors.h"

Suite *suite_safetensors(void);

static char folder[64], path[96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/attest-safe-XXXXXX", P_tmpdir);
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void write_file(const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    ck_assert(file && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

/* The length `claimed` (-1: the true one), the header, then `data` bytes 0, 1, 2, ..; returns the file's length. */
static size_t make_file(unsigned char *file, const char *header, int64_t claimed, size_t data)
{
    const uint64_t length = claimed < 0 ? strlen(header) : (uint64_t)claimed;
    for (int k = 0; k < 8; k++)
        file[k] = (unsigned char)(length >> 8 * k);
    memcpy(file + 8, header, strlen(header));
    for (size_t i = 0; i < data; i++)
        file[8 + strlen(header) + i] = (unsigned char)i;
    return 8 + strlen(header) + data;
}

/* ---- what is read ------------------------------------------------------------------------------------------ */
START_TEST(tensors_are_read)
{
    static const struct {
        const char *header, *name;
        size_t data, first; /* of the data, and where the tensor begins */
        uint32_t want;
        int rank;
        int64_t shape[2];
    } rows[] = {
        { "{\"o\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}", "o", 24, 0, ATTEST_F32, 2, { 2, 3 } },
        { "{\"o\":{\"dtype\":\"F64\",\"shape\":[3],\"data_offsets\":[0,24]}}   ", "o", 24, 0, ATTEST_F64, 1, { 3 } },
        { "{\"a\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[4,6]},"
          "\"o\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[0,4]}}",
          "a",
          6,
          4,
          ATTEST_F16,
          0,
          { 0 } },
        { "{\"__metadata__\":{\"by\":\"me\"},\"o\":{\"data_offsets\":[0,4],\"shape\":[2,1],\"dtype\":\"BF16\"}}",
          "o",
          4,
          0,
          ATTEST_BF16,
          2,
          { 2, 1 } },
        { "{\"len\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[0,16]}}", "len", 16, 0, ATTEST_I64, 1, { 2 } },
    };
    unsigned char file[1024];
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        attest_safetensors *in;
        attest_npy a;
        attest_error err;
        write_file(file, make_file(file, rows[k].header, -1, rows[k].data));
        ck_assert_msg(attest_safetensors_open(&in, path, &err) == ATTEST_OK, "%zu: %s", k, err.text);
        ck_assert_msg(attest_safetensors_read(&a, in, rows[k].name, rows[k].want, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(a.rank, rows[k].rank);
        size_t bytes = attest_dtype_bytes(rows[k].want);
        for (int axis = 0; axis < a.rank; axis++) {
            ck_assert_int_eq(a.shape[axis], rows[k].shape[axis]);
            bytes *= (size_t)a.shape[axis];
        }
        ck_assert_mem_eq(a.data, file + 8 + strlen(rows[k].header) + rows[k].first, bytes);
        attest_npy_free(&a);
        ck_assert(attest_safetensors_read(&a, in, "nothing", rows[k].want, &err) == ATTEST_BAD_INPUT && !a.data);
        ck_assert(attest_safetensors_read(&a, in, rows[k].name, ATTEST_DTYPE_COUNT, &err) == ATTEST_BAD_INPUT);
        attest_safetensors_close(in);
    }
}
END_TEST

START_TEST(i32_is_widened)
{
    static const char header[] = "{\"len\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    const int32_t stored[2] = { -1, 7 };
    unsigned char file[256];
    attest_safetensors *in;
    attest_npy a;
    attest_error err;
    const size_t size = make_file(file, header, -1, 8);
    memcpy(file + size - 8, stored, sizeof stored);
    write_file(file, size);
    ck_assert(attest_safetensors_open(&in, path, &err) == ATTEST_OK);
    ck_assert(attest_safetensors_read(&a, in, "len", ATTEST_I64, &err) == ATTEST_OK);
    ck_assert(((int64_t *)a.data)[0] == -1 && ((int64_t *)a.data)[1] == 7);
    attest_npy_free(&a);
    attest_safetensors_close(in);
}
END_TEST

/* ---- what is refused --------------------------------------------------------------------------------------- */
#define O(dtype, shape, offsets) "{\"o\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(one, other)                                                                                                \
    "{\"o\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" one                                                    \
    "},\"u\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" other "}}"

static const struct bad {
    const char *header;
    int64_t claimed;
    size_t data;
    const char *message;
} bads[] = {
    { "{}", 1 << 20, 0, "the header claims 1048576 bytes" },
    { "{}", INT64_MAX, 0, "the header claims 9223372036854775807 bytes" },
    { "{}", 1, 1, "the header is no JSON" },
    { "", 0, 0, "does not begin with '{'" },
    { " {}", -1, 0, "does not begin with '{'" },
    { "[]", -1, 0, "does not begin with '{'" },
    { "{} x", -1, 0, "the header is no JSON" },
    { "{\"o\":}", -1, 0, "the header is no JSON" },
    { "{\"o\":1}", -1, 0, "o: not an object" },
    { "{\"o\":{}}", -1, 0, "o: 'dtype' is missing" },
    { "{\"__metadata__\":{\"a\":1}}", -1, 0, "__metadata__: not an object of texts" },
    { "{\"__metadata__\":3}", -1, 0, "__metadata__: not an object of texts" },
    { "{}", -1, 5, "5 bytes behind the last tensor" },
    { "{\"o\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"o\":{}}", -1, 4, "a name stands twice" },
    { "{\"o\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", -1, 4, "stands twice" },
    { "{\"o\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", -1, 4, "another key" },
    { O("3", "[1]", "[0,4]"), -1, 4, "'dtype' is missing or no text" },
    { O("\"F8_E8M0\"", "[4]", "[0,4]"), -1, 4, "unknown 'dtype'" },
    { O("\"f32\"", "[1]", "[0,4]"), -1, 4, "unknown 'dtype'" },
    { O("\"F32\"", "1", "[0,4]"), -1, 4, "'shape' is missing or no list" },
    { O("\"F32\"", "[-1]", "[0,4]"), -1, 4, "'shape' is not a list of lengths" },
    { O("\"F32\"", "[1.0]", "[0,4]"), -1, 4, "'shape' is not a list of lengths" },
    { O("\"F32\"", "[0]", "[0,0]"), -1, 0, "'shape' is not a list of lengths" },
    { O("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), -1, 4, "too many axes" },
    { O("\"F32\"", "[99999999999999999999]", "[0,4]"), -1, 4, "the header is no JSON" },
    { O("\"F32\"", "[4611686018427387904,4611686018427387904]", "[0,4]"), -1, 4, "'shape' is too large" },
    { O("\"F32\"", "[4611686018427387904]", "[0,0]"), -1, 0, "'shape' is too large" },
    { O("\"F32\"", "[1]", "4"), -1, 4, "'data_offsets' are not two integers" },
    { O("\"F32\"", "[1]", "[0]"), -1, 4, "'data_offsets' are not two integers" },
    { O("\"F32\"", "[1]", "[-4,0]"), -1, 4, "'data_offsets' are not two integers" },
    { O("\"F32\"", "[1]", "[0,4,8]"), -1, 4, "'data_offsets' are not two integers" },
    { O("\"F32\"", "[1]", "[4,0]"), -1, 4, "'data_offsets' lie outside the data" },
    { O("\"F32\"", "[1]", "[0,5]"), -1, 4, "'data_offsets' lie outside the data" },
    { O("\"F32\"", "[1]", "[9223372036854775803,9223372036854775807]"), -1, 4, "'data_offsets' lie outside the data" },
    { O("\"F32\"", "[1]", "[0,3]"), -1, 3, "another number of bytes" },
    { O("\"F32\"", "[2]", "[0,4]"), -1, 4, "another number of bytes" },
    { O("\"F32\"", "[1]", "[0,8]"), -1, 8, "another number of bytes" },
    { O("\"F32\"", "[1]", "[0.0,4]"), -1, 4, "'data_offsets' are not two integers" },
    { O("\"F32\"", "[1]", "[0,4]"), -1, 5, "1 bytes behind the last tensor" },
    { O("\"F32\"", "[1]", "[1,5]"), -1, 5, "o: bytes before it belong to no tensor" },
    { TWO("[0,8]", "[4,12]"), -1, 12, "u: its bytes overlap those of another tensor" },
    { TWO("[0,8]", "[0,8]"), -1, 8, "its bytes overlap" },
    { TWO("[12,20]", "[0,8]"), -1, 20, "o: bytes before it belong to no tensor" },
};

START_TEST(files_are_refused)
{
    unsigned char file[1024];
    for (size_t k = 0; k < sizeof bads / sizeof bads[0]; k++) {
        attest_safetensors *in;
        attest_error err;
        write_file(file, make_file(file, bads[k].header, bads[k].claimed, bads[k].data));
        const attest_status status = attest_safetensors_open(&in, path, &err);
        ck_assert_msg(status == ATTEST_BAD_INPUT && in == NULL, "%zu: %s", k, bads[k].header);
        ck_assert_msg(strstr(err.text, bads[k].message) && strstr(err.text, path), "%zu: %s", k, err.text);
    }
}
END_TEST

/* A file of holes, 8 bytes and a header of `length`. */
START_TEST(a_header_over_1_mb_is_not_read)
{
    unsigned char prefix[8];
    attest_safetensors *in;
    attest_error err;
    for (int more = 0; more < 2; more++) {
        const uint64_t length = ATTEST_SAFETENSORS_HEADER + (uint64_t)more;
        for (int k = 0; k < 8; k++)
            prefix[k] = (unsigned char)(length >> 8 * k);
        write_file(prefix, 8);
        ck_assert(truncate(path, (off_t)(8 + length)) == 0);
        ck_assert(attest_safetensors_open(&in, path, &err) == ATTEST_BAD_INPUT && !in);
        ck_assert_msg(strstr(err.text, more ? "the header claims 1000001 bytes; allowed: at most 1000000"
                                            : "does not begin with '{'"),
                      "%s", err.text);
    }
}
END_TEST

static const char whole[] = "{\"o\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                            "\"u\":{\"dtype\":\"F16\",\"shape\":[1,2],\"data_offsets\":[8,12]}}";

START_TEST(no_truncation_is_read)
{
    unsigned char file[256];
    attest_safetensors *in;
    attest_error err;
    const size_t size = make_file(file, whole, -1, 12);
    for (size_t cut = 0; cut <= size; cut++) {
        write_file(file, cut);
        const attest_status status = attest_safetensors_open(&in, path, &err);
        ck_assert_msg(status == (cut == size ? ATTEST_OK : ATTEST_BAD_INPUT), "%zu of %zu bytes", cut, size);
        attest_safetensors_close(in);
    }
}
END_TEST

/* Each byte of a header becomes each other one: what is taken still says which bytes its tensors have. */
START_TEST(changed_headers_are_refused_or_whole)
{
    unsigned char file[256], was;
    const size_t size = make_file(file, whole, -1, 12);
    int taken = 0;
    for (size_t at = 0; at < size - 12; at++) {
        was = file[at];
        for (int to = 0; to < 256; to += at < 8 ? 1 : 7) {
            attest_safetensors *in;
            attest_npy a;
            attest_error err;
            file[at] = (unsigned char)to;
            write_file(file, size);
            if (attest_safetensors_open(&in, path, &err) != ATTEST_OK)
                continue;
            taken++;
            for (size_t i = 0; i < attest_safetensors_count(in); i++)
                for (uint32_t want = 0; want < ATTEST_DTYPE_COUNT; want++)
                    if (attest_safetensors_read(&a, in, attest_safetensors_name(in, i), want, &err) == ATTEST_OK)
                        attest_npy_free(&a);
            attest_safetensors_close(in);
        }
        file[at] = was;
    }
    ck_assert_int_gt(taken, 0);
}
END_TEST

START_TEST(names_that_are_no_file_are_refused)
{
    attest_safetensors *in;
    attest_error err;
    ck_assert(attest_safetensors_open(&in, folder, &err) == ATTEST_BAD_INPUT && !in);
    ck_assert(attest_safetensors_open(&in, path, &err) == ATTEST_BAD_INPUT && !in);
    ck_assert(mkfifo(path, 0600) == 0);
    ck_assert(attest_safetensors_open(&in, path, &err) == ATTEST_BAD_INPUT && !in);
}
END_TEST

/* ---- what is written --------------------------------------------------------------------------------------- */
START_TEST(what_is_written_is_read_again)
{
    static const char *const lines[] = { "n=3 d=2", "n=3 d=2 in=bf16 mask=causal lens=draw b=2", "n=2 in=f64",
                                         "n=2 in=f16" };
    for (size_t k = 0; k < 4; k++) {
        attest_tensor_id ids[ATTEST_MAX_TENSORS];
        attest_named_tensor list[8];
        attest_bundle *one, *other;
        attest_safetensors *in;
        attest_case c;
        attest_error err;
        struct stat info;
        char names[8][16];
        unsigned char next = 1;
        ck_assert_msg(attest_case_parse(&c, lines[k], NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        ck_assert(attest_bundle_new(&one, &err) == ATTEST_OK && attest_bundle_new(&other, &err) == ATTEST_OK);
        const size_t count = attest_problem_inputs(&c.problem, ids, 8);
        for (size_t i = 0; i < count; i++) {
            attest_tensor *t;
            ck_assert(attest_bundle_add(one, &c.problem, ids[i], 0, &t, &err) == ATTEST_OK);
            for (size_t at = 0; at < attest_tensor_bytes(t) && t->dtype != ATTEST_I64; at++)
                ((unsigned char *)t->data)[at] = next++;
            attest_tensor_id_print(names[i], sizeof names[i], ids[i]);
            list[i] = (attest_named_tensor){ names[i], t };
        }
        ck_assert(attest_safetensors_write(path, list, count, &err) == ATTEST_OK);
        ck_assert(stat(path, &info) == 0);
        ck_assert(attest_safetensors_open(&in, path, &err) == ATTEST_OK);
        ck_assert_uint_eq(attest_safetensors_count(in), count);
        for (size_t i = 0; i < count; i++) {
            ck_assert_msg(attest_safetensors_load(other, &c.problem, ids[i], in, &err) == ATTEST_OK, "%s", err.text);
            const attest_tensor *t = attest_bundle_get(other, ids[i]);
            ck_assert_mem_eq(t->data, list[i].tensor->data, attest_tensor_bytes(t));
        }
        for (size_t i = 0; i < count; i++) { /* falling size of an element, and the given order where it is the same */
            const size_t first = i == 0 && list[count - 1].tensor->dtype == ATTEST_I64;
            ck_assert_str_eq(attest_safetensors_name(in, i),
                             names[first ? count - 1 : i - (list[count - 1].tensor->dtype == ATTEST_I64)]);
        }
        attest_safetensors_close(in);
        attest_bundle_free(one);
        attest_bundle_free(other);
    }
}
END_TEST

/* A file of holes, of 4 TB. */
START_TEST(a_shape_is_looked_at_before_the_data)
{
    unsigned char file[256];
    const char *header = "{\"o\":{\"dtype\":\"F32\",\"shape\":[1099511627776],\"data_offsets\":[0,4398046511104]}}";
    attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_safetensors *in;
    attest_bundle *bundle;
    attest_case c;
    attest_error err;
    const size_t size = make_file(file, header, -1, 0);
    write_file(file, size);
    if (truncate(path, (off_t)(size + 4398046511104)) != 0)
        return; /* no room for it in this file system */
    ck_assert(attest_case_parse(&c, "n=3 d=2", NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    ck_assert_msg(attest_safetensors_open(&in, path, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_safetensors_load(bundle, &c.problem, o, in, &err) == ATTEST_BAD_INPUT, "%s", err.text);
    ck_assert_msg(strstr(err.text, "of o is"), "%s", err.text);
    attest_safetensors_close(in);
    attest_bundle_free(bundle);
}
END_TEST

START_TEST(the_bytes_are_those_of_the_format)
{
    static const char want[] = "\x40\0\0\0\0\0\0\0"
                               "{\"oo\":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}}       "
                               "\1\2\3\4\5\6\7\x8";
    unsigned char data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[128];
    attest_tensor t = {
        .data = data, .dtype = ATTEST_F32, .rank = 2, .shape = { 1, 2, 1, 1 }, .stride = { 2, 1, 1, 1 }
    };
    const attest_named_tensor list[] = { { "oo", &t } };
    attest_error err;
    ck_assert(attest_safetensors_write(path, list, 1, &err) == ATTEST_OK);
    FILE *in = fopen(path, "rb");
    const size_t size = fread(got, 1, sizeof got, in);
    fclose(in);
    ck_assert_uint_eq(size, sizeof want - 1);
    ck_assert_mem_eq(got, want, size);
    t.stride[1] = 2;
    ck_assert(attest_safetensors_write(path, list, 1, &err) == ATTEST_INTERNAL);
    t.stride[1] = 1;
    snprintf(path, sizeof path, "%s/none/a", folder);
    ck_assert(attest_safetensors_write(path, list, 1, &err) == ATTEST_IO && strstr(err.text, path));
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
}
END_TEST

Suite *suite_safetensors(void)
{
    Suite *s = suite_create("safetensors");
    TCase *t = tcase_create("safetensors");
    tcase_add_checked_fixture(t, make_folder, remove_folder);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, tensors_are_read);
    tcase_add_test(t, i32_is_widened);
    tcase_add_test(t, files_are_refused);
    tcase_add_test(t, a_header_over_1_mb_is_not_read);
    tcase_add_test(t, no_truncation_is_read);
    tcase_add_test(t, changed_headers_are_refused_or_whole);
    tcase_add_test(t, names_that_are_no_file_are_refused);
    tcase_add_test(t, what_is_written_is_read_again);
    tcase_add_test(t, a_shape_is_looked_at_before_the_data);
    tcase_add_test(t, the_bytes_are_those_of_the_format);
    suite_add_tcase(s, t);
    return s;
}

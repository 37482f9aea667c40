/* .npy files: what is read, what is refused and with which words, every truncation and every changed header
 * byte, and exchange with numpy where python3 has it. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/attest_float.h"
#include "kernels/npy/npy.h"

Suite *suite_npy(void);

static char folder[64], path[96];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/attest-npy-XXXXXX", P_tmpdir);
    ck_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.npy", folder);
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

/* Version, dictionary padded to 64 bytes, then `data` bytes of 1; returns the file's length. */
static size_t make_file(unsigned char *file, int version, const char *dictionary, size_t data)
{
    const size_t prefix = version == 1 ? 10 : 12;
    const size_t total = (prefix + strlen(dictionary) + 1 + 63) / 64 * 64;
    memset(file, ' ', total);
    memset(file + total, 1, data);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (unsigned char)version;
    memset(file + 7, 0, prefix - 7);
    file[8] = (unsigned char)(total - prefix);
    file[9] = (unsigned char)((total - prefix) >> 8);
    memcpy(file + prefix, dictionary, strlen(dictionary));
    file[total - 1] = '\n';
    return total + data;
}

/* ---- what is read ---------------------------------------------------------------------------------- */

static const struct good {
    int version;
    const char *dictionary;
    size_t data;
    uint32_t want;
    int rank;
    int64_t shape[3];
} goods[] = {
    { 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12, ATTEST_F32, 1, { 3, 0, 0 } },
    { 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24, ATTEST_F32, 2, { 2, 3, 0 } },
    { 3, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 2), }", 32, ATTEST_F64, 3, { 2, 1, 2 } },
    { 1, "{'descr': '<f2', 'fortran_order': False, 'shape': (), }", 2, ATTEST_F16, 0, { 0, 0, 0 } },
    { 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }", 6, ATTEST_BF16, 1, { 3, 0, 0 } },
    { 1, "{'descr': '|V2', 'fortran_order': False, 'shape': (3,), }", 6, ATTEST_BF16, 1, { 3, 0, 0 } },
    { 1, "{'descr': '<V2', 'fortran_order': False, 'shape': (3,), }", 6, ATTEST_BF16, 1, { 3, 0, 0 } },
    { 1, "{'descr': 'V2', 'fortran_order': False, 'shape': (3,), }", 6, ATTEST_BF16, 1, { 3, 0, 0 } },
    { 1, "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 8, ATTEST_I64, 1, { 1, 0, 0 } },
    { 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", 8, ATTEST_I64, 1, { 2, 0, 0 } },
    { 1, "{'shape':(2,3),'fortran_order':False,'descr':'<f4'}", 24, ATTEST_F32, 2, { 2, 3, 0 } },
    { 1,
      " {\"shape\" : ( 2 ,\n3,) , 'descr'\t: \"<f4\", 'fortran_order' : False } \n",
      24,
      ATTEST_F32,
      2,
      { 2, 3, 0 } },
    { 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 3, 1), }", 12, ATTEST_F32, 3, { 1, 3, 1 } },
};

START_TEST(reads)
{
    make_folder();
    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        const struct good *g = &goods[i];
        unsigned char file[512];
        attest_npy a, h;
        attest_error err;
        write_file(file, make_file(file, g->version, g->dictionary, g->data));
        ck_assert_msg(attest_npy_read(&a, path, g->want, &err) == ATTEST_OK, "%s: %s", g->dictionary, err.text);
        ck_assert_msg(attest_npy_header(&h, path, &err) == ATTEST_OK, "%s: %s", g->dictionary, err.text);
        ck_assert(h.data == NULL && h.dtype == g->want && a.dtype == g->want && h.rank == g->rank && a.rank == g->rank);
        int64_t count = 1;
        for (int axis = 0; axis < g->rank; axis++) {
            ck_assert_msg(a.shape[axis] == g->shape[axis] && h.shape[axis] == g->shape[axis], "%s", g->dictionary);
            count *= a.shape[axis];
        }
        const attest_tensor view = { .dtype = a.dtype, .data = a.data };
        for (int64_t e = 0; e < count; e++) /* each byte is 1; i4 is widened */
            ck_assert_msg(attest_load_bits(&view, e) == 0x0101010101010101u >> (64 - 8 * (int64_t)g->data / count),
                          "%s", g->dictionary);
        attest_npy_free(&a);
        attest_npy_free(&h);
        ck_assert(a.data == NULL);
    }
    attest_npy_free(NULL);
    remove_folder();
}
END_TEST

START_TEST(widens_negative_lengths)
{
    unsigned char file[512];
    attest_npy a;
    attest_error err;
    static const int32_t values[3] = { -5, 2147483647, 7 };
    make_folder();
    const size_t size = make_file(file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 12);
    memcpy(file + size - 12, values, 12);
    write_file(file, size);
    ck_assert_int_eq(attest_npy_read(&a, path, ATTEST_I64, &err), ATTEST_OK);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(((int64_t *)a.data)[i], values[i]);
    attest_npy_free(&a);
    remove_folder();
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------------- */

#define D(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static const struct bad {
    const char *dictionary;
    size_t data;
    uint32_t want;
    const char *words;
} bads[] = {
    { D("'>f4'", "False", "(3,)"), 12, ATTEST_F32, "big-endian dtype '>f4'" },
    { D("'|O'", "False", "(3,)"), 24, ATTEST_F32, "object dtype '|O'" },
    { D("'<c8'", "False", "(3,)"), 24, ATTEST_F32, "dtype '<c8'; allowed" },
    { D("[('a', '<f4')]", "False", "(3,)"), 12, ATTEST_F32, "structured" },
    { D("'<f4<f4<f4<f4<f4<f4'", "False", "(3,)"), 12, ATTEST_F32, "not a dtype" },
    { D("'<f4'", "False", "(3,)"), 12, ATTEST_F64, "dtype '<f4' where f64 is declared; allowed: <f8" },
    { D("'<u2'", "False", "(3,)"), 6, ATTEST_F16, "dtype '<u2' where f16 is declared; allowed: <f2" },
    { D("'<f2'", "False", "(3,)"), 6, ATTEST_BF16, "allowed: <u2 or V2" },
    { D("'<i4'", "False", "(3,)"), 12, ATTEST_F32, "declared" },
    { D("'<f4'", "False", "(3,)"), 12, ATTEST_I64, "allowed: <i8 or <i4" },
    { D("'<f4'", "True", "(2, 2)"), 16, ATTEST_F32, "Fortran order; allowed: C order" },
    { D("'<f4'", "0", "(3,)"), 12, ATTEST_F32, "fortran_order" },
    { D("'<f4'", "Falsey", "(3,)"), 12, ATTEST_F32, "not a dictionary" },
    { D("'<f4'", "False", "(4,)"), 12, ATTEST_F32, "needs 16 bytes of data, the file holds 12" },
    { D("'<f4'", "False", "(2,)"), 12, ATTEST_F32, "needs 8 bytes of data, the file holds 12" },
    { D("'<f4'", "False", "()"), 12, ATTEST_F32, "needs 4 bytes" },
    { D("'<f4'", "False", "(1152921504606846976,)"), 12, ATTEST_F32, "needs 4611686018427387904 bytes" },
    { D("'<f2'", "False", "(1152921504606846976,)"), 12, ATTEST_F16, "needs 2305843009213693952 bytes" },
    { D("'<f4'", "False", "(4294967296, 4294967296)"), 12, ATTEST_F32, "2^63 bytes or more" },
    { D("'<f4'", "False", "(9223372036854775807, 2)"), 12, ATTEST_F32, "2^63 bytes or more" },
    { D("'<f4'", "False", "(9223372036854775808,)"), 12, ATTEST_F32, "too large" },
    { D("'<f4'", "False", "(99999999999999999999999,)"), 12, ATTEST_F32, "too large" },
    { D("'<f4'", "False", "(-3,)"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(+3,)"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(3L,)"), 12, ATTEST_F32, "tuple of lengths" },
    { D("'<f4'", "False", "(03,)"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(3.0,)"), 12, ATTEST_F32, "tuple of lengths" },
    { D("'<f4'", "False", "(0,)"), 0, ATTEST_F32, "length 0" },
    { D("'<f4'", "False", "(3, 0)"), 0, ATTEST_F32, "length 0" },
    { D("'<f4'", "False", "(3)"), 12, ATTEST_F32, "not a tuple" },
    { D("'<f4'", "False", "3"), 12, ATTEST_F32, "not a tuple" },
    { D("'<f4'", "False", "((3,),)"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(,)"), 4, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(3,,)"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(1 3)"), 12, ATTEST_F32, "tuple of lengths" },
    { D("'<f4'", "False", "(3,"), 12, ATTEST_F32, "decimal integers" },
    { D("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 3)"), 12, ATTEST_F32, "at most 8" },
    { D("'<f4", "False", "(3,)"), 12, ATTEST_F32, "not a d" },
    { D("<f4", "False", "(3,)"), 12, ATTEST_F32, "not a dtype" },
    { "{'descr': '<f4', 'fortran_order': False}", 12, ATTEST_F32, "key is missing" },
    { "{}", 12, ATTEST_F32, "key is missing" },
    { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", 12, ATTEST_F32, "repeated key" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'x': 1}", 12, ATTEST_F32, "unknown key" },
    { "{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}", 12, ATTEST_F32, "not a dictionary" },
    { "{'descr' '<f4', 'fortran_order': False, 'shape': (3,)}", 12, ATTEST_F32, "not a dictionary" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)", 12, ATTEST_F32, "not a dictionary" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x", 12, ATTEST_F32, "follows" },
    { "['descr', 'fortran_order', 'shape']", 12, ATTEST_F32, "not a dictionary" },
    { "", 12, ATTEST_F32, "not a dictionary" },
};

/* One line that names the file and says what is allowed. */
static void check_refusal(attest_status status, const attest_npy *a, const attest_error *err, const char *words,
                          const char *what)
{
    ck_assert_msg(status == ATTEST_BAD_INPUT, "%s: status %d, %s", what, status, err->text);
    ck_assert_msg(strncmp(err->text, path, strlen(path)) == 0 && err->text[strlen(path)] == ':', "%s: %s", what,
                  err->text);
    ck_assert_msg(strstr(err->text, words) != NULL, "%s: no '%s' in: %s", what, words, err->text);
    ck_assert_msg(strchr(err->text, '\n') == NULL && a->data == NULL && a->rank == 0, "%s", what);
}

START_TEST(refuses_headers)
{
    make_folder();
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        unsigned char file[512];
        attest_npy a;
        attest_error err;
        write_file(file, make_file(file, 1, bads[i].dictionary, bads[i].data));
        const attest_status status = attest_npy_read(&a, path, bads[i].want, &err);
        check_refusal(status, &a, &err, bads[i].words, bads[i].dictionary);
    }
    remove_folder();
}
END_TEST

/* Bytes changed in the prefix of a good version 1 file. */
static const struct patch {
    size_t at;
    unsigned char bytes[4];
    size_t count;
    const char *words;
} patches[] = {
    { 0, { 'P' }, 1, "bad magic" },         { 5, { 'y' }, 1, "bad magic" },
    { 6, { 0 }, 1, "version 0.0" },         { 6, { 4 }, 1, "version 4.0" },
    { 7, { 1 }, 1, "version 1.1" },         { 8, { 255, 255 }, 2, "claims 65535 bytes" },
    { 8, { 0, 0 }, 2, "not a dictionary" }, { 6, { 2, 0, 255, 255 }, 4, "claims" },
};

START_TEST(refuses_prefixes)
{
    attest_npy a;
    attest_error err;
    make_folder();
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        unsigned char file[512];
        const size_t size = make_file(file, 1, goods[0].dictionary, 12);
        memcpy(file + patches[i].at, patches[i].bytes, patches[i].count);
        write_file(file, size);
        check_refusal(attest_npy_read(&a, path, ATTEST_F32, &err), &a, &err, patches[i].words, patches[i].words);
    }
    remove_folder();
}
END_TEST

START_TEST(refuses_what_is_no_file)
{
    attest_npy a;
    attest_error err;
    make_folder();
    check_refusal(attest_npy_header(&a, path, &err), &a, &err, "cannot read it: No such file", "missing");
    ck_assert(mkfifo(path, 0600) == 0);
    alarm(5); /* a reader that waits for the other end dies here */
    check_refusal(attest_npy_read(&a, path, ATTEST_F32, &err), &a, &err, "a FIFO; allowed: a regular file", "fifo");
    alarm(0);
    unlink(path);
    ck_assert(mkdir(path, 0700) == 0);
    check_refusal(attest_npy_read(&a, path, ATTEST_F32, &err), &a, &err, "a directory", "directory");
    rmdir(path);
    write_file("", 0);
    check_refusal(attest_npy_read(&a, path, ATTEST_F32, &err), &a, &err, "too few", "empty");
    remove_folder();
}
END_TEST

/* Every truncation is refused; every changed byte of the header gives a clean answer. */
START_TEST(survives_damage)
{
    unsigned char file[512];
    attest_npy a;
    attest_error err;
    int accepted = 0;
    make_folder();
    const size_t size = make_file(file, 1, goods[1].dictionary, 24);
    for (size_t cut = 0; cut < size; cut++) {
        write_file(file, cut);
        check_refusal(attest_npy_read(&a, path, ATTEST_F32, &err), &a, &err, "", "cut");
    }
    write_file(file, size);
    const int fd = open(path, O_WRONLY);
    ck_assert(fd >= 0);
    for (size_t at = 0; at < size - 24; at++) {
        for (unsigned value = 0; value < 256; value++) {
            const unsigned char byte = (unsigned char)value;
            ck_assert(pwrite(fd, &byte, 1, (off_t)at) == 1);
            const attest_status status = attest_npy_read(&a, path, ATTEST_F32, &err);
            ck_assert_msg(status == ATTEST_OK || status == ATTEST_BAD_INPUT, "byte %zu = %u: %d", at, value, status);
            if (status == ATTEST_OK)
                ck_assert(attest_load_bits(&(attest_tensor){ .data = a.data }, 5) == 0x01010101);
            accepted += status == ATTEST_OK;
            attest_npy_free(&a);
        }
        ck_assert(pwrite(fd, file + at, 1, (off_t)at) == 1);
    }
    close(fd);
    ck_assert_msg(accepted >= (int)size - 24 && accepted < 2000, "%d changed files were accepted", accepted);
    remove_folder();
}
END_TEST

/* ---- writing --------------------------------------------------------------------------------------- */

static attest_tensor numbers(uint32_t dtype, int rank, const int64_t *shape, void *data)
{
    attest_tensor t = { .dtype = dtype, .rank = rank, .data = data, .shape = { 1, 1, 1, 1 } };
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
        t.shape[i] = shape[i];
        t.stride[i] = stride;
        stride *= shape[i];
    }
    for (int64_t i = 0; i < stride; i++)
        attest_store_bits(&t, i, dtype == ATTEST_I64 ? (uint64_t)(i - 3) : attest_from_f64(dtype, 0.5 * (double)i - 1));
    return t;
}

START_TEST(writes_and_reads_back)
{
    static const int64_t shape[4] = { 2, 1, 3, 5 };
    make_folder();
    for (uint32_t dtype = 0; dtype <= ATTEST_I64; dtype++) {
        for (int rank = 1; rank <= 4; rank++) {
            unsigned char data[30 * 8], head[256] = { 0 };
            attest_npy a;
            attest_error err;
            const attest_tensor t = numbers(dtype, rank, shape, data);
            ck_assert_msg(attest_npy_write(path, &t, &err) == ATTEST_OK, "%s", err.text);
            ck_assert_msg(attest_npy_read(&a, path, dtype, &err) == ATTEST_OK, "%s", err.text);
            ck_assert(a.rank == rank && memcmp(a.shape, shape, (size_t)rank * sizeof shape[0]) == 0);
            ck_assert(memcmp(a.data, data, attest_tensor_bytes(&t)) == 0);
            FILE *file = fopen(path, "rb");
            ck_assert(file && fread(head, 1, sizeof head, file) >= 64 && fclose(file) == 0);
            const size_t header = 10 + head[8] + 256u * head[9];
            ck_assert(header % 64 == 0 && head[header - 1] == '\n' && memchr(head, '\0', header) == head + 7);
            attest_npy_free(&a);
        }
    }
    remove_folder();
}
END_TEST

START_TEST(writing_fails_cleanly)
{
    static const int64_t shape[2] = { 2, 3 };
    unsigned char data[24];
    char partial[128];
    attest_error err;
    attest_tensor t = numbers(ATTEST_F32, 2, shape, data);
    make_folder();
    snprintf(partial, sizeof partial, "%s.%ld000.tmp", path, (long)getpid());
    ck_assert(mkdir(path, 0700) == 0); /* a directory stands where the file should go */
    ck_assert_int_eq(attest_npy_write(path, &t, &err), ATTEST_IO);
    ck_assert_msg(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
    ck_assert_msg(access(partial, F_OK) != 0, "%s is left behind", partial);
    rmdir(path);
    t.stride[0] = 1;
    t.stride[1] = 2;
    ck_assert_int_eq(attest_npy_write(path, &t, &err), ATTEST_INTERNAL);
    ck_assert(access(path, F_OK) != 0);
    rmdir(folder);
    ck_assert_int_eq(attest_npy_write(path, &t, &err), ATTEST_INTERNAL);
    t = numbers(ATTEST_F32, 2, shape, data);
    ck_assert_int_eq(attest_npy_write(path, &t, &err), ATTEST_IO);
}
END_TEST

/* ---- numpy ----------------------------------------------------------------------------------------- */

/* numpy checks what was written (0, 0.5, 1, ... - 1 in four types) and writes it anew under its own header. */
static const char script[] =
    "import numpy as np\n"
    "y = (np.arange(30) * 0.5 - 1).reshape(2, 3, 5)\n"
    "bf16 = (y.astype('f4').view('u4') >> 16).astype('u2')\n"
    "for name, want in ('f32', y.astype('f4')), ('f64', y), ('f16', y.astype('f2')), ('bf16', bf16):\n"
    "    x = np.load(name + '.npy')\n"
    "    assert x.dtype == want.dtype and x.shape == (2, 3, 5) and (x == want).all(), name\n"
    "    np.save(name + '.npy', want)\n";

/* Runs the script by the first interpreter that has numpy; -1 if none has. */
static int run_numpy(void)
{
    static const char *const interpreters[] = { "python3", "/usr/bin/python3" };
    for (int i = 0; i < 2; i++) {
        char command[1024];
        snprintf(command, sizeof command, "%s -c 'import numpy' >/dev/null 2>&1", interpreters[i]);
        if (system(command) == 0) {
            snprintf(command, sizeof command, "cd '%s' && %s -c \"%s\"", folder, interpreters[i], script);
            return system(command);
        }
    }
    return -1;
}

START_TEST(exchanges_with_numpy)
{
    static const uint32_t dtypes[4] = { ATTEST_F32, ATTEST_F64, ATTEST_F16, ATTEST_BF16 };
    static const int64_t shape[3] = { 2, 3, 5 };
    unsigned char data[4][240];
    attest_error err;
    make_folder();
    for (int i = 0; i < 4; i++) {
        const attest_tensor t = numbers(dtypes[i], 3, shape, data[i]);
        snprintf(path, sizeof path, "%s/%s.npy", folder, attest_dtype_name(dtypes[i]));
        ck_assert_int_eq(attest_npy_write(path, &t, &err), ATTEST_OK);
    }
    const int answer = run_numpy();
    ck_assert_msg(answer == 0 || answer == -1, "numpy reads something else");
    for (int i = 0; i < 4; i++) {
        attest_npy a;
        snprintf(path, sizeof path, "%s/%s.npy", folder, attest_dtype_name(dtypes[i]));
        ck_assert_msg(attest_npy_read(&a, path, dtypes[i], &err) == ATTEST_OK, "%s", err.text);
        ck_assert(a.rank == 3 && memcmp(a.data, data[i], 30 * attest_dtype_bytes(dtypes[i])) == 0);
        attest_npy_free(&a);
        unlink(path);
    }
    remove_folder();
}
END_TEST

Suite *suite_npy(void)
{
    Suite *suite = suite_create("npy");
    TCase *tcase = tcase_create("npy");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, reads);
    tcase_add_test(tcase, widens_negative_lengths);
    tcase_add_test(tcase, refuses_headers);
    tcase_add_test(tcase, refuses_prefixes);
    tcase_add_test(tcase, refuses_what_is_no_file);
    tcase_add_test(tcase, survives_damage);
    tcase_add_test(tcase, writes_and_reads_back);
    tcase_add_test(tcase, writing_fails_cleanly);
    tcase_add_test(tcase, exchanges_with_numpy);
    suite_add_tcase(suite, tcase);
    return suite;
}

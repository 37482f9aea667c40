/* The family trace:DIR: inputs from files, the rest drawn; what is wrong with a folder or a file is said. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/npy/npy.h"
#include "props/draw/draw.h"

Suite *suite_trace(void);

static char folder[64];

static void setup(void)
{
    strcpy(folder, "/tmp/attest trace 100%-XXXXXX"); /* blanks and % are encoded in a line */
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    static const char *const names[] = { "q", "k", "v", "len", "gin", "h0.1" };
    char path[128];
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        snprintf(path, sizeof path, "%s/%s.npy", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}

/* The case of a line, its family trace:FOLDER, as the canonical line says it. */
static attest_case case_of(const char *line)
{
    attest_case c;
    attest_error err;
    char text[ATTEST_LINE];
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    snprintf(c.family, sizeof c.family, "trace:%s", folder);
    ck_assert_msg(attest_case_print(text, sizeof text, &c, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(strstr(text, "attest%20trace%20100%25-") != NULL);
    ck_assert_msg(attest_case_parse(&c, text, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    return c;
}

static attest_tensor_id id_of(const char *name)
{
    attest_tensor_id id;
    attest_error err;
    ck_assert_msg(attest_tensor_id_parse(&id, name, &err) == ATTEST_OK, "%s", err.text);
    return id;
}

/* Element k of the file is first + k; as the problem of `line` declares the tensor. */
static void write_file(const char *name, const char *line, int64_t first)
{
    const attest_case c = case_of(line);
    attest_bundle *bundle = NULL;
    attest_tensor *t;
    attest_error err;
    char path[128];
    ck_assert(attest_bundle_new(&bundle, &err) == ATTEST_OK);
    ck_assert(attest_bundle_add(bundle, &c.problem, id_of(name), 0, &t, &err) == ATTEST_OK);
    for (int64_t k = 0; k < attest_tensor_count(t); k++)
        attest_store_bits(t, k, (uint64_t)(first + k));
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    ck_assert_msg(attest_npy_write(path, t, &err) == ATTEST_OK, "%s", err.text);
    attest_bundle_free(bundle);
}

static attest_status draw(attest_bundle **bundle, const char *line, const char *family, attest_error *err)
{
    attest_case c = case_of(line);
    if (family)
        snprintf(c.family, sizeof c.family, "%s", family);
    err->text[0] = '\0';
    ck_assert(attest_bundle_new(bundle, err) == ATTEST_OK);
    return attest_draw_missing(*bundle, &c, 0, 0, err);
}

static void write_three(const char *line)
{
    write_file("q", line, 100);
    write_file("k", line, 200);
    write_file("v", line, 300);
}

START_TEST(files_and_draws)
{
    static const char line[] = "b=2 hq=2 hkv=1 n=3 m=4 d=2 e=5 lens=draw gates=inout in=bf16";
    attest_bundle *read = NULL, *drawn = NULL;
    attest_error err;
    write_three(line);
    write_file("len", line, 2); /* 2, 3 */
    ck_assert_msg(draw(&read, line, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(draw(&drawn, line, "normal", &err) == ATTEST_OK);
    const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    for (int r = 0; r < 3; r++) {
        const attest_tensor *t = attest_bundle_role(read, roles[r]);
        for (int64_t k = 0; k < attest_tensor_count(t); k++)
            ck_assert_uint_eq(attest_load_bits(t, k), (uint64_t)(100 * (r + 1) + k));
    }
    ck_assert_int_eq(attest_load_int(attest_bundle_role(read, ATTEST_KV_LENS), 1), 3);
    const attest_tensor *gin = attest_bundle_role(read, ATTEST_GIN), *same = attest_bundle_role(drawn, ATTEST_GIN);
    for (int64_t k = 0; k < attest_tensor_count(gin); k++) /* no file: drawn as ever */
        ck_assert_uint_eq(attest_load_bits(gin, k), attest_load_bits(same, k));
    attest_bundle_free(read);
    attest_bundle_free(drawn);
}
END_TEST

static void refuse(const char *line, const char *family, const char *words)
{
    attest_bundle *bundle = NULL;
    attest_error err;
    ck_assert_msg(draw(&bundle, line, family, &err) == ATTEST_BAD_INPUT, "not refused: %s", words);
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' is not in: %s", words, err.text);
    attest_bundle_free(bundle);
}

START_TEST(refused)
{
    static const char line[] = "n=3 m=4 d=2";
    refuse(line, "trace", "name a folder");
    refuse(line, "trace:", "name a folder");
    refuse(line, "trace:/no/such/folder", "there is no such folder");
    write_file("q", line, 0);
    refuse(line, NULL, "/k.npy is missing");
    write_three(line);
    refuse("n=3 m=5 d=2", NULL, "/k.npy: axis 2 of k is 4, the problem needs 5");
    refuse("n=3 m=4 d=2 in=f64", NULL, "/q.npy: ");
    write_file("len", "n=3 m=9 lens=draw", 5);
    refuse("n=3 m=4 d=2 lens=draw", NULL, "/len.npy: len[0] is 5; allowed: 0 to m=4");
    write_file("h0.1", "variant=linear n=3 m=4 d=2 state=draw", 0);
    refuse("variant=linear n=3 m=4 d=2 state=draw", NULL, "/h0.1.npy: states are drawn");
    refuse(line, "tracee:x", "unknown family");
}
END_TEST

Suite *suite_trace(void)
{
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, files_and_draws);
    tcase_add_test(tcase, refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

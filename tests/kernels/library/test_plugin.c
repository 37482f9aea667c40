/* test_plugin.c - the loader of kernel libraries: one clear line naming the file for each thing that can be wrong.
 */
#include "kernels/library/plugin.h"
#include "kernels/library/registry.h"

#include <check.h>
#include <string.h>

Suite *suite_plugin(void);

static void expect_refusal(attest_status status, const attest_error *err, const char *path, const char *text)
{
    ck_assert_msg(status == ATTEST_BAD_INPUT, "%s: status %d", path, (int)status);
    ck_assert_msg(strstr(err->text, path) != NULL, "'%s' does not name %s", err->text, path);
    ck_assert_msg(strstr(err->text, text) != NULL, "'%s' does not say '%s'", err->text, text);
}

/* Changes one thing of a good library (kernel 0 of two, or the library) and expects the check to see it. */
#define SPOIL(change, message)                                                                                  \
    do {                                                                                                      \
        attest_kernel k0 = *base->kernels[0], k1 = *base->kernels[1];                                         \
        attest_numerics numerics = *k0.numerics;                                                              \
        attest_memory memory = { .struct_size = sizeof memory, .device = ATTEST_CUDA };                       \
        const attest_kernel *table[2] = { &k0, &k1 };                                                         \
        attest_library lib = { .struct_size = sizeof lib, .abi_version = ATTEST_ABI_VERSION, .name = "test",  \
                               .kernels = table, .kernel_count = 2 };                                         \
        k0.numerics = &numerics;                                                                              \
        (void)memory;                                                                                         \
        ck_assert_msg(attest_library_check(&lib, "dir/file.so", &err) == ATTEST_OK, "%s", err.text);          \
        change;                                                                                               \
        expect_refusal(attest_library_check(&lib, "dir/file.so", &err), &err, "dir/file.so", message);           \
    } while (0)

START_TEST(test_library_check)
{
    const attest_library *base = attest_builtin_library();
    attest_error err;
    ck_assert_msg(attest_library_check(base, "built-in", &err) == ATTEST_OK, "%s", err.text);
    SPOIL(lib.abi_version = 99, "version 99 of attest.h, this program has version 1");
    SPOIL(lib.struct_size = 4, "struct_size is 4");
    SPOIL(lib.struct_size = sizeof lib - 8, "struct_size");
    SPOIL(lib.kernel_count = 0, "no kernels");
    SPOIL(lib.kernels = NULL, "no kernels");
    SPOIL(lib.kernel_count = 1000000, "1000000");
    SPOIL(table[1] = NULL, "kernel 1 is NULL");
    SPOIL(k0.struct_size = 8, "kernel 0: struct_size is 8");
    SPOIL(k0.name = NULL, "kernel 0 has no name");
    SPOIL(k0.name = "Bad name", "Bad name");
    SPOIL(k0.name = "", "a-z 0-9");
    SPOIL(k0.name = k1.name, "same name");
    SPOIL(k0.supports = NULL, "no supports()");
    SPOIL(k0.run = NULL, "no run()");
    SPOIL(k0.numerics = NULL, "attest_numerics");
    SPOIL(numerics.struct_size = 4, "attest_numerics");
    SPOIL(k0.form = 9, "form 9");
    SPOIL(k0.device = 7, "device 7");
    SPOIL(k0.device = ATTEST_CUDA, "no attest_memory");
    SPOIL(numerics.exp_error = 0.3, "numerics.exp_error is 0.3; allowed are 0 to 0.0078125");
    SPOIL(numerics.acc_unit = 0x1p-6, "numerics.acc_unit is");
    SPOIL(numerics.div_error = 1, "numerics.div_error is 1");
    SPOIL(numerics.exp_error = -1, "numerics.exp_error is -1");
    SPOIL(numerics.schedule = 7, "numerics.schedule is 7");
    SPOIL(lib.memory = &memory, "lacks a function");
    SPOIL(lib.memory = &memory; memory.struct_size = 4, "attest_memory: struct_size is 4");
}
END_TEST

START_TEST(test_plugin_open)
{
    static const struct { const char *file, *text; } cases[] = {
        { ATTEST_TEST_BUILD "/plugins/none-such.so", "No such file" },
        { ATTEST_TEST_BUILD "/plugins", "a directory" },
        { ATTEST_TEST_ROOT "/Makefile", "not a library that can be loaded" },
        { ATTEST_TEST_BUILD "/plugins/nosymbol.so", "exports no attest_library_v1" },
        { ATTEST_TEST_BUILD "/plugins/nulllib.so", "returned NULL" },
        { ATTEST_TEST_BUILD "/plugins/badabi.so", "version 99 of attest.h, this program has version 1" },
    };
    const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    const attest_library *lib;
    void *handle;
    attest_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        lib = attest_builtin_library();
        handle = &handle;
        const attest_status status = attest_plugin_open(&lib, &handle, cases[i].file, &host, &err);
        expect_refusal(status, &err, cases[i].file, cases[i].text);
        ck_assert_ptr_null(lib);
        ck_assert_ptr_null(handle);
    }
    const char *good = ATTEST_TEST_BUILD "/plugins/nan.so";
    ck_assert_msg(attest_plugin_open(&lib, &handle, good, &host, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(lib->kernels[0]->name, "nan");
    ck_assert_ptr_nonnull(handle);
}
END_TEST

Suite *suite_plugin(void)
{
    Suite *s = suite_create("plugin");
    TCase *loader = tcase_create("loader");
    tcase_add_test(loader, test_library_check);
    tcase_add_test(loader, test_plugin_open);
    suite_add_tcase(s, loader);
    return s;
}

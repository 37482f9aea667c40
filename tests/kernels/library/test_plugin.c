/* test_plugin.c - the loader of kernel libraries: one clear line naming the file for each thing that can be wrong.
 */
#include "kernels/library/declared.h"
#include "kernels/library/plugin.h"
#include "kernels/library/registry.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_plugin(void);

static void expect_refusal(attest_status status, const attest_error *err, const char *path, const char *text)
{
    ck_assert_msg(status == ATTEST_BAD_INPUT, "%s: status %d", path, (int)status);
    ck_assert_msg(strstr(err->text, path) != NULL, "'%s' does not name %s", err->text, path);
    ck_assert_msg(strstr(err->text, text) != NULL, "'%s' does not say '%s'", err->text, text);
}

/* Changes one thing of a good library (kernel 0 of two, or the library) and expects the check to see it. */
#define SPOIL(change, message)                                                                                         \
    do {                                                                                                               \
        attest_kernel k0 = *base->kernels[0], k1 = *base->kernels[1];                                                  \
        attest_numerics numerics = *k0.numerics;                                                                       \
        attest_limits limits = attest_limits_init();                                                                   \
        attest_claim claim = attest_claim_init();                                                                      \
        attest_memory memory = { .struct_size = sizeof memory, .device = ATTEST_CUDA };                                \
        const attest_kernel *table[2] = { &k0, &k1 };                                                                  \
        attest_library lib = { .struct_size = sizeof lib,                                                              \
                               .abi_version = ATTEST_ABI_VERSION,                                                      \
                               .name = "test",                                                                         \
                               .kernels = table,                                                                       \
                               .kernel_count = 2 };                                                                    \
        k0.numerics = &numerics;                                                                                       \
        k0.limits = &limits;                                                                                           \
        k0.claim = &claim;                                                                                             \
        (void)memory;                                                                                                  \
        ck_assert_msg(attest_plugin_take(&plugin, &lib, "dir/file.so", &err) == ATTEST_OK, "%s", err.text);            \
        attest_plugin_free(plugin);                                                                                    \
        change;                                                                                                        \
        expect_refusal(attest_plugin_take(&plugin, &lib, "dir/file.so", &err), &err, "dir/file.so", message);          \
        ck_assert_ptr_null(plugin);                                                                                    \
    } while (0)

START_TEST(test_library_check)
{
    const attest_library *base = attest_builtin_library();
    attest_plugin *plugin;
    attest_error err;
    SPOIL(lib.abi_version = 99, "version 99 of attest.h, this program has version 2");
    SPOIL(lib.struct_size = 4, "struct_size is 4");
    SPOIL(lib.struct_size = 24, "no kernels");
    SPOIL(lib.kernel_count = 0, "no kernels");
    SPOIL(lib.kernels = NULL, "no kernels");
    SPOIL(lib.kernel_count = 1000000, "1000000");
    SPOIL(table[1] = NULL, "kernel 1 is NULL");
    SPOIL(k0.struct_size = 4, "kernel 0: struct_size is 4");
    SPOIL(k0.struct_size = 8, "kernel 0 has no name");
    SPOIL(k0.struct_size = 96, "has no run()");
    SPOIL(k0.flags |= 1u << 10, "flags is 0x503; this program does not know bits 0x400");
    SPOIL(k0.flags |= 1u << 3, "does not know bits 0x8"); /* version 1's */
    SPOIL(k0.outputs |= 1u << 7, "outputs is 0x89; this program does not know bits 0x80");
    SPOIL(k0.outputs = ATTEST_GIVES_LSE, "without ATTEST_GIVES_O");
    SPOIL(k0.needs = 6, "needs is 0x6; this program does not know bits 0x6");
    SPOIL(claim.max_ulp = -1, "claim.max_ulp is -1");
    SPOIL(claim.struct_size = 0, "attest_claim: struct_size is 0");
    SPOIL(limits.d.multiple = -8, "a limit is negative");
    SPOIL(k0.alignment = 48, "alignment is 48; allowed are 0 and powers of two up to 64");
    SPOIL(k0.alignment = 128, "alignment is 128");
    SPOIL(k0.name = NULL, "kernel 0 has no name");
    SPOIL(k0.name = "Bad name", "Bad name");
    SPOIL(k0.name = "", "a-z 0-9");
    SPOIL(k0.name = "a-name-of-64-bytes-which-differs-from-another-one-at-its-end-001", "is longer than 63");
    SPOIL(k0.name = k1.name, "same name");
    SPOIL(k0.supports = NULL, "no supports()");
    SPOIL(k0.run = NULL, "no run()");
    SPOIL(k0.numerics = NULL, "attest_numerics");
    SPOIL(numerics.struct_size = 4, "attest_numerics: struct_size is 4");
    SPOIL(numerics.empty_row = 4, "numerics.empty_row is 4");
    SPOIL(numerics.division = 5, "numerics.division is 5");
    SPOIL(numerics.scaled_dtype = 5, "numerics.scaled_dtype is 5");
    SPOIL(numerics.expm1_error = 0.25, "numerics.expm1_error is 0.25");
    SPOIL(numerics.score_unit = 0.1, "numerics.score_unit is 0.1");
    SPOIL(numerics.tanh_error = NAN, "numerics.tanh_error is");
    SPOIL(numerics.score_acc = 9, "numerics.score_acc is 9");
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
    static const struct {
        const char *file, *text;
    } cases[] = {
        { ATTEST_TEST_BUILD "/plugins/none-such.so", "No such file" },
        { ATTEST_TEST_BUILD "/plugins", "a directory" },
        { ATTEST_TEST_ROOT "/Makefile", "not a library that can be loaded" },
        { ATTEST_TEST_BUILD "/plugins/nosymbol.so", "exports no attest_library_v2" },
        { ATTEST_TEST_BUILD "/plugins/nulllib.so", "returned NULL" },
        { ATTEST_TEST_BUILD "/plugins/badabi.so", "version 99 of attest.h, this program has version 2" },
        { ATTEST_TEST_BUILD "/plugins/version1.so", "made for version 1 of attest.h, this program has version 2" },
        { ATTEST_TEST_BUILD "/plugins/year-odd-flag.so", "flags is 0x401; this program does not know bits 0x400" },
        { ATTEST_TEST_BUILD "/plugins/year-odd-output.so", "outputs is 0x81; this program does not know bits 0x80" },
        { ATTEST_TEST_BUILD "/plugins/year-odd-need.so", "needs is 0x2; this program does not know bits 0x2" },
    };
    const attest_host host = { .struct_size = sizeof host, .abi_version = ATTEST_ABI_VERSION };
    attest_plugin *plugin;
    attest_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const attest_status status = attest_plugin_open(&plugin, cases[i].file, &host, &err);
        expect_refusal(status, &err, cases[i].file, cases[i].text);
        ck_assert_ptr_null(plugin);
    }
    const char *good = ATTEST_TEST_BUILD "/plugins/nan.so";
    ck_assert_msg(attest_plugin_open(&plugin, good, &host, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_str_eq(plugin->kernel[0].kernel.name, "nan");
    ck_assert_ptr_eq(plugin->kernel[0].kernel.numerics, &plugin->kernel[0].numerics);
    ck_assert_int_eq(plugin->opened, ATTEST_OK);
    attest_plugin_free(plugin);
}
END_TEST

/* A struct of a library that ends early, at every size; and one that goes on. */
START_TEST(test_short_structs)
{
    const attest_numerics whole = {
        .struct_size = sizeof whole, .tile = 3, .exp_error = 0x1p-22, .empty_row = 1, .sigmoid_error = 0x1p-20
    };
    for (uint32_t size = 4; size <= sizeof whole; size++) {
        attest_numerics given = whole, copy;
        unsigned char *bytes = malloc(size); /* nothing behind it may be read */
        ck_assert_ptr_nonnull(bytes);
        given.struct_size = size;
        memcpy(bytes, &given, size);
        attest_copy_struct(&copy, sizeof copy, bytes);
        given.struct_size = sizeof given;
        ck_assert_mem_eq(&copy, &given, size);
        for (size_t at = size; at < sizeof copy; at++)
            ck_assert_uint_eq(((unsigned char *)&copy)[at], 0);
        free(bytes);
    }
    struct {
        attest_numerics known;
        double later;
    } longer = { whole, 5 };
    attest_numerics copy;
    longer.known.struct_size = sizeof longer;
    attest_copy_struct(&copy, sizeof copy, &longer);
    ck_assert_mem_eq(&copy, &whole, sizeof copy);
}
END_TEST

Suite *suite_plugin(void)
{
    Suite *s = suite_create("plugin");
    TCase *loader = tcase_create("loader");
    tcase_add_test(loader, test_library_check);
    tcase_add_test(loader, test_plugin_open);
    tcase_add_test(loader, test_short_structs);
    suite_add_tcase(s, loader);
    return s;
}

/* test_device_settings.c - which settings of cuda-host are refused: those that its machine refuses (probe.cu). */
#include <check.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/gate/plan.h"

Suite *suite_device_settings(void);

typedef const char *run_probe(const char *name, float *x, size_t count);

/* What is refused before anything runs is what the machine refuses. */
START_TEST(as_the_machine)
{
    static const char *const words[] = { "",          "h100",     "H100",    "exact",  "b200",   "h100 ",
                                         "k80",       "bogus",    "forward", "greedy", "random", "greedy-reverse",
                                         "random:12", "random:1x" };
    static const char *const names[] = { "ATTEST_CUDA_HOST_GPU", "ATTEST_CUDA_HOST_ORDER" };
    const char *name = names[_i];
    int taken = 0;
    void *library = dlopen(ATTEST_TEST_BUILD "/cuda/probe.so", RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *probe = dlsym(library, "probe_run");
    ck_assert_ptr_nonnull(probe);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        float x[128] = { 0 };
        attest_error err = { "" };
        setenv(name, words[i], 1);
        const int refused = ((run_probe *)(uintptr_t)probe)("lanes", x, 128) != NULL;
        ck_assert_msg(attest_device_settings(ATTEST_CUDA_HOST, &err) == (refused ? ATTEST_BAD_INPUT : ATTEST_OK),
                      "%s=%s", name, words[i]);
        ck_assert_msg(!refused || strstr(err.text, name), "%s", err.text);
        ck_assert_int_eq(attest_device_settings(ATTEST_CUDA, &err), ATTEST_OK);
        taken += !refused;
    }
    ck_assert_int_eq(taken, _i == 0 ? 3 : 4);
}
END_TEST

Suite *suite_device_settings(void)
{
    Suite *s = suite_create("device_settings");
    TCase *t = tcase_create("cuda-host");
    tcase_add_loop_test(t, as_the_machine, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

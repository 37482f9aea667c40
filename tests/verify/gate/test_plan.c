/* test_plan.c - the kernels of a run: those that are wanted, library by library; a library that is none costs the
 * others nothing; a worker is of the plan or is refused. */
#include <check.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/gate/plan.h"

Suite *suite_plan(void);

#define PLUGIN(name) ATTEST_TEST_BUILD "/plugins/" name ".so"

static int by_glob(const void *context, const attest_kernel_facts *kernel)
{
    return fnmatch(context, kernel->name, 0) == 0;
}

static void setup(void) { setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1); }

START_TEST(only_what_is_wanted)
{
    const char *const libraries[] = { NULL, PLUGIN("flaky") };
    attest_plan plan;
    attest_error err = { "" };
    ck_assert_msg(attest_plan_make(&plan, libraries, 2, by_glob, "*fla*", 30, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(plan.library_count, 2);
    ck_assert_uint_gt(plan.library[0].kernels, 10); /* wanted or not */
    ck_assert_uint_eq(plan.library[1].kernels, 1);
    ck_assert_uint_ge(plan.kernel_count, 3); /* flash f32 and bf16, flaky */
    ck_assert_uint_lt(plan.kernel_count, plan.library[0].kernels);
    for (size_t k = 0; k < plan.kernel_count; k++) {
        const attest_plan_kernel *kernel = &plan.kernel[k];
        const int built_in = k + 1 < plan.kernel_count;
        ck_assert_uint_eq(kernel->library, built_in ? 0 : 1);
        ck_assert(k == 0 || !built_in || kernel->index > plan.kernel[k - 1].index);
        ck_assert_msg(strstr(kernel->facts.name, "fla") != NULL, "%s", kernel->facts.name);
        if (built_in)
            ck_assert_str_eq(kernel->name, kernel->facts.name);
        else
            ck_assert_str_eq(kernel->name, PLUGIN("flaky") ":flaky");
    }
    ck_assert_uint_eq(strlen(plan.library[0].file.hash), 16);
    ck_assert_str_ne(plan.library[0].file.hash, plan.library[1].file.hash);
    attest_plan_clear(&plan);
    ck_assert(!plan.library && !plan.kernel && plan.kernel_count == 0);
}
END_TEST

START_TEST(a_library_that_is_none)
{
    const char *const libraries[] = { PLUGIN("nosymbol"), "/none.so", PLUGIN("flaky") };
    attest_plan plan;
    attest_error err = { "" };
    ck_assert_msg(attest_plan_make(&plan, libraries, 3, by_glob, "*", 30, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(strstr(plan.library[0].failed, "nosymbol.so"), "%s", plan.library[0].failed);
    ck_assert_msg(strstr(plan.library[1].failed, "/none.so"), "%s", plan.library[1].failed);
    ck_assert_str_eq(plan.library[2].failed, "");
    ck_assert_uint_eq(plan.kernel_count, 1);
    ck_assert_uint_eq(plan.kernel[0].library, 2);
    attest_plan_clear(&plan);
    /* alone, it is an input that is wrong */
    ck_assert_int_eq(attest_plan_make(&plan, libraries, 1, by_glob, "*", 30, &err), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "nosymbol.so") != NULL, "%s", err.text);
    ck_assert(!plan.library && !plan.kernel);
}
END_TEST

START_TEST(without_a_worker)
{
    const char *const libraries[] = { NULL };
    attest_plan plan;
    attest_error err = { "" };
    setenv("ATTEST_WORKER", "/none/attest-worker", 1);
    ck_assert_int_eq(attest_plan_make(&plan, libraries, 1, by_glob, "*", 30, &err), ATTEST_IO);
    ck_assert_msg(strstr(err.text, "/none/attest-worker") != NULL, "%s", err.text);
    setup();
}
END_TEST

/* The file of a library is exchanged after the plan was made. */
START_TEST(a_worker_is_of_the_plan)
{
    static char path[] = ATTEST_TEST_BUILD "/plan-XXXXXX";
    const char *const libraries[] = { path };
    attest_plan plan;
    attest_worker *worker = NULL;
    attest_error err = { "" };
    ck_assert_ptr_nonnull(mkdtemp(path));
    rmdir(path);
    ck_assert_int_eq(symlink(PLUGIN("flaky"), path), 0);
    ck_assert_msg(attest_plan_make(&plan, libraries, 1, by_glob, "*", 30, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_plan_start(&worker, &plan, 0, 30, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(attest_worker_kernel_count(worker), 1);
    attest_worker_free(worker);
    unlink(path);
    char copy[1024];
    snprintf(copy, sizeof copy, "cp %s %s", PLUGIN("flaky"), path);
    ck_assert_int_eq(system(copy), 0); /* another file of the same bytes */
    ck_assert_msg(attest_plan_start(&worker, &plan, 0, 30, &err) == ATTEST_OK, "%s", err.text);
    attest_worker_free(worker);
    unlink(path);
    ck_assert_int_eq(symlink(PLUGIN("batched"), path), 0); /* as many kernels */
    ck_assert_int_eq(attest_plan_start(&worker, &plan, 0, 30, &err), ATTEST_IO);
    ck_assert_msg(strstr(err.text, "has changed during the run") != NULL, "%s", err.text);
    ck_assert_ptr_null(worker);
    unlink(path);
    ck_assert_int_eq(attest_plan_start(&worker, &plan, 0, 30, &err), ATTEST_IO);
    ck_assert_ptr_null(worker);
    attest_plan_clear(&plan);
}
END_TEST

Suite *suite_plan(void)
{
    Suite *suite = suite_create("plan");
    TCase *plans = tcase_create("plan");
    tcase_add_checked_fixture(plans, setup, NULL);
    tcase_set_timeout(plans, 60);
    tcase_add_test(plans, only_what_is_wanted);
    tcase_add_test(plans, a_library_that_is_none);
    tcase_add_test(plans, without_a_worker);
    tcase_add_test(plans, a_worker_is_of_the_plan);
    suite_add_tcase(suite, plans);
    return suite;
}

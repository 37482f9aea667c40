/* The floors of the labels, reached by the 2000 cases that a run of the default seed asks of the built-in kernels. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "props/generate/generate.h"
#include "verify/properties/props_host.h"

Suite *suite_floors(void);

enum { CASES = 2000 };

static void setup(void) { setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1); }

static void count_case(int64_t *count, attest_props_world *world, uint32_t number)
{
    const attest_prop_host host = attest_props_host(world);
    const attest_prop_kernel kernel = attest_props_kernel(&world->subject);
    attest_error err = { "" };
    attest_generated made;
    attest_case_facts facts;
    attest_bundle *inputs = NULL;
    ck_assert_msg(attest_generate(&made, 0, number, &kernel, &host, &err) == ATTEST_OK && made.found, "%s", err.text);
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert_msg(attest_draw_missing(inputs, &made.c, number, 0, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_props_facts(&facts, &made.c, inputs, &err) == ATTEST_OK, "%s", err.text);
    for (size_t k = 0; k < attest_label_count; k++)
        count[k] += attest_labels[k].has(&made.c, &kernel, inputs, &facts);
    attest_bundle_free(inputs);
}

START_TEST(floors_are_reached)
{
    attest_props_world world = { .subject = { .program = "attest" }, .timeout_s = 30, .reference = 1 };
    attest_error err = { "" };
    int64_t *count = calloc(attest_label_count, sizeof *count);
    ck_assert_ptr_nonnull(count);
    ck_assert_msg(attest_worker_start(&world.subject.worker, NULL, 10, &err) == ATTEST_OK, "%s", err.text);
    for (uint32_t number = 0; number < CASES; number++) {
        world.subject.index = number % attest_worker_kernel_count(world.subject.worker);
        count_case(count, &world, number);
    }
    for (size_t k = 0; k < attest_label_count; k++)
        ck_assert_msg(count[k] >= attest_label_floor(&attest_labels[k], CASES), "%s: %" PRId64 " cases",
                      attest_labels[k].name, count[k]);
    attest_worker_free(world.subject.worker);
    free(count);
}
END_TEST

Suite *suite_floors(void)
{
    Suite *suite = suite_create("props_floors");
    TCase *tcase = tcase_create("floors");
    tcase_set_timeout(tcase, 240);
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, floors_are_reached);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* test_classify_order.c - serial sums of kernels whose schedule no probe sees: in their tiles, where they declare
 * them. */
#include "tests/verify/classify/classify_ask.h"

Suite *suite_classify_order(void);

#define TILED ATTEST_TEST_BUILD "/plugins/tiled.so"

static const struct {
    const char *kernel, *is;
    uint32_t verdict;
} kernels[] = {
    { "causal", "yes", ATTEST_TRAIT_AGREES },
    { "short", "-", ATTEST_TRAIT_HIDDEN }, /* not its denominator */
    { "causal-silent", "-", ATTEST_TRAIT_HIDDEN },
    { "short-silent", "-", ATTEST_TRAIT_HIDDEN },
};

START_TEST(serial_in_declared_tiles)
{
    attest_traits traits = classify(TILED, kernels[_i].kernel);
    ck_assert_uint_eq(trait_of(&traits, "schedule")->verdict, ATTEST_TRAIT_HIDDEN); /* else it shows nothing */
    const attest_trait *serial = trait_of(&traits, "serial_sums");
    ck_assert_msg(strcmp(serial->inferred, kernels[_i].is) == 0 && serial->verdict == kernels[_i].verdict,
                  "%s: declared %s, inferred %s: %s", kernels[_i].kernel, serial->declared, serial->inferred,
                  serial->why);
    for (size_t n = 0; n < traits.count; n++)
        ck_assert_msg(traits.trait[n].verdict != ATTEST_TRAIT_FAIL, "%s %s: %s", kernels[_i].kernel,
                      traits.trait[n].trait, traits.trait[n].why);
    attest_traits_clear(&traits);
}
END_TEST

Suite *suite_classify_order(void)
{
    Suite *s = suite_create("classify_order");
    TCase *t = tcase_create("tiles");
    tcase_add_unchecked_fixture(t, use_our_worker, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, serial_in_declared_tiles, 0, (int)(sizeof kernels / sizeof kernels[0]));
    suite_add_tcase(s, t);
    return s;
}

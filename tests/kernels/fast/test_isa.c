/* test_isa.c - kernels/fast/isa.h: which instruction set is used, and how a user limits it. */
#include "fast/isa.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

Suite *suite_isa(void);

/* What FAST_CPU says for this process, put back by the fork that Check makes of each test. */
START_TEST(test_limit)
{
    ck_assert_int_eq(fast_isa_at_most("portable"), FAST_PORTABLE);
    ck_assert_int_le(fast_isa_at_most("avx2"), FAST_AVX2);
    ck_assert_int_eq(fast_isa_at_most("no such set"), fast_isa_at_most(NULL));
    ck_assert_int_le(fast_isa_at_most("avx2"), fast_isa_at_most("avx512"));
    ck_assert_int_eq(fast_isa_at_most("avx512"), fast_isa_at_most(NULL));
}
END_TEST

START_TEST(test_environment)
{
    setenv("FAST_CPU", "portable", 1);
    ck_assert_int_eq(fast_isa_used(), FAST_PORTABLE);
    setenv("FAST_CPU", "avx2", 1);
    ck_assert_int_eq(fast_isa_used(), fast_isa_at_most("avx2"));
    unsetenv("FAST_CPU");
    ck_assert_int_eq(fast_isa_used(), fast_isa_at_most(NULL));
}
END_TEST

START_TEST(test_names)
{
    ck_assert_str_eq(fast_isa_name(FAST_PORTABLE), "portable");
    ck_assert_str_eq(fast_isa_name(FAST_AVX2), "avx2");
    ck_assert_str_eq(fast_isa_name(FAST_AVX512), "avx512");
}
END_TEST

Suite *suite_isa(void)
{
    Suite *suite = suite_create("isa");
    TCase *all = tcase_create("isa");
    tcase_add_test(all, test_limit);
    tcase_add_test(all, test_environment);
    tcase_add_test(all, test_names);
    suite_add_tcase(suite, all);
    return suite;
}

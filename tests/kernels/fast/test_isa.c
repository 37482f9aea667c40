/* test_isa.c - kernels/fast/isa.h: which instruction set is used, and how a user limits it. */
#include "fast/isa.h"
#include "fast/threads.h"
#include "kernels/library/library.h"

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

/* What results say of it. */
START_TEST(test_level)
{
    static const char *const words[] = { "portable", "avx2", "avx512" };
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++) {
        setenv("FAST_CPU", words[n], 1);
        const char *flags = attest_builtin_library()->build_flags, *level = strrchr(flags, ' ') + 1;
        ck_assert_int_eq(fast_level(), (int)fast_isa_at_most(words[n]));
        ck_assert_str_eq(level, fast_isa_name(fast_isa_at_most(words[n])));
    }
    unsetenv("FAST_CPU");
    const char *level = strrchr(attest_builtin_library()->build_flags, ' ') + 1;
    const char *best = fast_has_bf16() ? "avx512bf16" : fast_isa_name(fast_isa_at_most(NULL));
    ck_assert_str_eq(level, fast_has_amx() ? "amx" : best);
}
END_TEST

START_TEST(test_names)
{
    ck_assert_str_eq(fast_isa_name(FAST_PORTABLE), "portable");
    ck_assert_str_eq(fast_isa_name(FAST_AVX2), "avx2");
    ck_assert_str_eq(fast_isa_name(FAST_AVX512), "avx512");
}
END_TEST

#ifdef _OPENMP
/* The gate compares numbers of threads on cases of up to 2^20 multiply-adds (verify/gate/repeat_checks.h): a kernel
 * that used one thread for all of them would never be asked. */
START_TEST(test_gate_sees_threads)
{
    omp_set_num_threads(4);
    ck_assert_int_eq(fast_threads(0x1p19, 8), 4);
    ck_assert_int_eq(fast_threads(0x1p19, 3), 3);
    ck_assert_int_eq(fast_threads(1e4, 8), 1);
}
END_TEST
#endif

Suite *suite_isa(void)
{
    Suite *suite = suite_create("isa");
    TCase *all = tcase_create("isa");
    tcase_add_test(all, test_limit);
    tcase_add_test(all, test_environment);
    tcase_add_test(all, test_names);
    tcase_add_test(all, test_level);
#ifdef _OPENMP
    tcase_add_test(all, test_gate_sees_threads);
#endif
    suite_add_tcase(suite, all);
    return suite;
}

/* The one test runner: all suites (tests/test_*.c) under Check, or ONLY_SUITE alone. */
#include <check.h>
#include <stdlib.h>

#ifdef ONLY_SUITE
Suite *ONLY_SUITE(void);
#else
#define SUITE(name) Suite *name(void);
#include "test_suites.h"
#undef SUITE
#endif

int main(void)
{
    SRunner *runner = srunner_create(NULL);
#ifdef ONLY_SUITE
    srunner_add_suite(runner, ONLY_SUITE());
#else
#define SUITE(name) srunner_add_suite(runner, name());
#include "test_suites.h"
#undef SUITE
#endif
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    const int run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

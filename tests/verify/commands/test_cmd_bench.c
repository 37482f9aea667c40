/* test_cmd_bench.c - what `attest bench` times, and what it does not: bench.case (cases.h). */
#include "tests/verify/commands/cases.h"

Suite *suite_cmd_bench(void);

START_TEST(test_bench) { check_file("bench.case"); }
END_TEST

Suite *suite_cmd_bench(void) { return suite_of_cases("cmd_bench", test_bench); }

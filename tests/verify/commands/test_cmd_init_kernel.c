/* test_cmd_init_kernel.c - kernels that `attest init-kernel` writes, built and audited: init.case (cases.h). */
#include "tests/verify/commands/cases.h"

Suite *suite_cmd_init_kernel(void);

START_TEST(test_init_kernel) { check_file("../verify/commands/init.case"); }
END_TEST

Suite *suite_cmd_init_kernel(void) { return suite_of_cases("cmd_init_kernel", test_init_kernel); }

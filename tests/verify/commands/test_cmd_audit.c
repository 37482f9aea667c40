/* test_cmd_audit.c - libraries of others under gate, audit and replay: plugins.case (cases.h). */
#include "tests/verify/commands/cases.h"

Suite *suite_cmd_audit(void);

START_TEST(test_audit) { check_file("plugins.case"); }
END_TEST

Suite *suite_cmd_audit(void) { return suite_of_cases("cmd_audit", test_audit); }

/* test_cmd_props.c - what must hold for every input, asked of kernels: props.case (cases.h). */
#include "tests/verify/commands/cases.h"

Suite *suite_cmd_props(void);

START_TEST(test_props) { check_file("props.case"); }
END_TEST

Suite *suite_cmd_props(void) { return suite_of_cases("cmd_props", test_props); }

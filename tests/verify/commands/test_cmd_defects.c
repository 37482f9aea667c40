/* test_cmd_defects.c - planted defects, and what the gates of others let through: defects.case (cases.h). */
#include "tests/verify/commands/cases.h"

Suite *suite_cmd_defects(void);

START_TEST(test_defects) { check_file("defects.case"); }
END_TEST

Suite *suite_cmd_defects(void) { return suite_of_cases("cmd_defects", test_defects); }

/* test_cmd_gate.c - `attest gate` as data: its .case files (cases.h), and what it does where files and disks fail. */
#include <check.h>

#include "tests/verify/commands/cases.h"

Suite *suite_cmd_gate(void);

START_TEST(test_gate) { check_file("gate.case"); }
END_TEST

START_TEST(test_baseline) { check_file("../verify/commands/baseline.case"); }
END_TEST

START_TEST(test_faults) { check_file("../faults/gate/faults.case"); }
END_TEST

START_TEST(test_unanswered) { check_file("../verify/commands/unanswered.case"); }
END_TEST

START_TEST(test_files) { check_file("../faults/files.case"); }
END_TEST

Suite *suite_cmd_gate(void)
{
    Suite *s = suite_create("cmd_gate");
    TCase *t = tcase_create("cases");
    tcase_set_timeout(t, 600);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_gate);
    tcase_add_test(t, test_baseline);
    tcase_add_test(t, test_faults);
    tcase_add_test(t, test_unanswered);
    tcase_add_test(t, test_files);
    suite_add_tcase(s, t);
    return s;
}

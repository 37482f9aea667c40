/* test_date.c - the date of a run, and what SOURCE_DATE_EPOCH may be. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verify/base/base.h"

Suite *suite_date(void);

static const struct {
    const char *epoch, *date; /* NULL: refused */
} dates[] = { { "0", "1970-01-01T00:00:00Z" },
              { "951782400", "2000-02-29T00:00:00Z" },
              { "4102444799", "2099-12-31T23:59:59Z" },
              { "253402300799", "9999-12-31T23:59:59Z" },
              { "253402300800", NULL },
              { "99999999999999999999", NULL },
              { "", NULL },
              { " 1", NULL },
              { "-1", NULL },
              { "+1", NULL },
              { "1x", NULL },
              { "0x10", NULL },
              { "1e3", NULL } };

START_TEST(the_epoch_is_a_number)
{
    attest_error err = { "" };
    char text[32] = "";
    setenv("SOURCE_DATE_EPOCH", dates[_i].epoch, 1);
    const attest_status status = attest_run_date(text, &err);
    ck_assert_int_eq(status, dates[_i].date ? ATTEST_OK : ATTEST_BAD_INPUT);
    if (dates[_i].date)
        ck_assert_str_eq(text, dates[_i].date);
    else
        ck_assert_msg(strncmp(err.text, "SOURCE_DATE_EPOCH=", 18) == 0, "%s", err.text);
}
END_TEST

START_TEST(without_it_the_clock_is_asked)
{
    attest_error err = { "" };
    struct tm date = { 0 };
    char text[32];
    unsetenv("SOURCE_DATE_EPOCH");
    const time_t before = time(NULL);
    ck_assert_int_eq(attest_run_date(text, &err), ATTEST_OK);
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &date);
    ck_assert(end && *end == '\0');
    const time_t told = timegm(&date);
    ck_assert(told >= before && told <= time(NULL));
}
END_TEST

Suite *suite_date(void)
{
    Suite *suite = suite_create("date");
    TCase *c = tcase_create("date");
    tcase_add_loop_test(c, the_epoch_is_a_number, 0, (int)(sizeof dates / sizeof dates[0]));
    tcase_add_test(c, without_it_the_clock_is_asked);
    suite_add_tcase(suite, c);
    return suite;
}

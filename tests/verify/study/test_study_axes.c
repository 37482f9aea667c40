/* test_study_axes.c - lists of values: what they stand for, and what is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "verify/study/study_private.h"

Suite *suite_study_axes(void);

/* `VALUE VALUE ..`, or the error's text. */
static const char *read_as(attest_study_axis axis, const char *text)
{
    static char said[2048];
    attest_error err = { "" };
    study_list list;
    const attest_status status = study_list_read(&list, axis, text, &err);
    said[0] = '\0';
    for (size_t i = 0; status == ATTEST_OK && i < list.count; i++) {
        if (i)
            strcat(said, " ");
        strcat(said, list.value[i].text);
    }
    free(list.value);
    return status == ATTEST_OK ? said : strcpy(said, err.text);
}

START_TEST(lists_stand_for)
{
    static const struct {
        attest_study_axis axis;
        const char *text, *values;
    } rows[] = {
        { ATTEST_STUDY_ORDERS, "0..4", "0 1 2 3 4" },
        { ATTEST_STUDY_ORDERS, "7", "7" },
        { ATTEST_STUDY_ORDERS, "1,4..6,2", "1 4 5 6 2" },
        { ATTEST_STUDY_SEEDS, "3..3", "3" },
        { ATTEST_STUDY_RANGES, "0.25..3", "0.25 0.5 1 2" },
        { ATTEST_STUDY_RANGES, "2^-3..2^1,1e-3,.5e1", "0.125 0.25 0.5 1 2 0.001 5" },
        { ATTEST_STUDY_LENGTHS, "64..300", "64 128 256" },
        { ATTEST_STUDY_DIMS, "2^4,24", "16 24" },
        { ATTEST_STUDY_IN, "f32,bf16", "f32 bf16" },
        { ATTEST_STUDY_CENTERS, "mid,zero", "mid zero" },
        { ATTEST_STUDY_VARIANT, "taylor:2,softmax", "taylor:2 softmax" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_str_eq(read_as(rows[i].axis, rows[i].text), rows[i].values);
}
END_TEST

START_TEST(what_is_no_list)
{
    static const struct {
        attest_study_axis axis;
        const char *text;
    } rows[] = {
        { ATTEST_STUDY_ORDERS, "" },         { ATTEST_STUDY_ORDERS, "65" },     { ATTEST_STUDY_ORDERS, "-1" },
        { ATTEST_STUDY_ORDERS, "1.5" },      { ATTEST_STUDY_ORDERS, "3..1" },   { ATTEST_STUDY_ORDERS, "1,,2" },
        { ATTEST_STUDY_ORDERS, "1," },       { ATTEST_STUDY_ORDERS, "1,1" },    { ATTEST_STUDY_ORDERS, "0..3,2" },
        { ATTEST_STUDY_ORDERS, "1..x" },     { ATTEST_STUDY_ORDERS, "1 " },     { ATTEST_STUDY_ORDERS, "nan" },
        { ATTEST_STUDY_ORDERS, "2^" },       { ATTEST_STUDY_RANGES, "0" },      { ATTEST_STUDY_RANGES, "-2" },
        { ATTEST_STUDY_RANGES, "inf" },      { ATTEST_STUDY_RANGES, "1e7" },    { ATTEST_STUDY_RANGES, "1...2" },
        { ATTEST_STUDY_LENGTHS, "0" },       { ATTEST_STUDY_LENGTHS, "2^25" },  { ATTEST_STUDY_DIMS, "1e6" },
        { ATTEST_STUDY_IN, "f33" },          { ATTEST_STUDY_IN, "f32 f16" },    { ATTEST_STUDY_CENTERS, "max," },
        { ATTEST_STUDY_CENTERS, "maximum" }, { ATTEST_STUDY_SEEDS, "0..5000" }, { ATTEST_STUDY_VARIANT, "," },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char start[300];
        snprintf(start, sizeof start, "--%s=%s: ", attest_study_axis_names[rows[i].axis], rows[i].text);
        const char *said = read_as(rows[i].axis, rows[i].text);
        ck_assert_msg(strncmp(said, start, strlen(start)) == 0 && strlen(said) > strlen(start), "'%s' is read as %s",
                      rows[i].text, said);
    }
}
END_TEST

Suite *suite_study_axes(void)
{
    Suite *s = suite_create("study_axes");
    TCase *t = tcase_create("lists");
    tcase_add_test(t, lists_stand_for);
    tcase_add_test(t, what_is_no_list);
    suite_add_tcase(s, t);
    return s;
}

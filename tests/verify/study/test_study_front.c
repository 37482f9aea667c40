/* test_study_front.c - which points are on the front of time and error, and where recurrence begins to pay. */
#include "tests/verify/study/study_cases.h"
#include "verify/study/study_cost.h"

Suite *suite_study_front(void);

static attest_results points;

static void add(const char *series, const char *variant, const char *kernel, int64_t n, double time, double error)
{
    attest_result r;
    attest_error err = { "" };
    attest_result_init(&r);
    snprintf(r.series, sizeof r.series, "%s %s", series, kernel);
    snprintf(r.variant, sizeof r.variant, "%s", variant);
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
    r.n = n;
    r.abscissa = (double)n;
    r.ordinate = time;
    r.total_hi = error;
    ck_assert_msg(attest_results_add(&points, &r, &err) == ATTEST_OK, "%s", err.text);
}

START_TEST(fronts)
{
    static const struct {
        const char *panel;
        double time, error;
        int n, front;
    } rows[] = {
        { "d=4", 10, 1e-7, 64, 1 },    { "d=4", 11, 1e-7, 64, 0 }, /* as accurate, slower */
        { "d=4", 90, 0.95e-7, 64, 0 },                             /* a tenth is no gain */
        { "d=4", 90, 0.8e-7, 64, 1 },                              /* a fifth is */
        { "d=4", 5, 1e-3, 64, 1 },     { "d=4", 5, 2e-3, 64, 0 },  /* as fast, less accurate */
        { "d=4", 1, NAN, 64, 0 },      { "d=4", 99, 1, 128, 1 },   /* no error; alone in its group */
        { "d=8", 200, 1, 64, 1 },
    };
    const size_t count = sizeof rows / sizeof rows[0];
    unsigned char front[16];
    attest_error err = { "" };
    for (size_t i = 0; i < count; i++)
        add(rows[i].panel, "taylor:1", "k", rows[i].n, rows[i].time, rows[i].error);
    ck_assert_int_eq(study_front(front, &points, &err), ATTEST_OK);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(front[i] == rows[i].front, "point %zu", i);
    ck_assert_int_eq(study_mark_front(&points, &err), ATTEST_OK);
    for (size_t i = 0; i < count; i++)
        ck_assert_str_eq(result_at(&points, i).why, rows[i].front ? "front" : "");
    attest_results_clear(&points);
}
END_TEST

START_TEST(where_recurrence_pays)
{
    attest_error err = { "" };
    char text[4096] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    for (int i = 0; i < 4; i++) {
        add("d=4", "softmax", "softmax-flash-f32", 64 << i, 10 << i, 1e-7);
        add("d=4", "softmax", "softmax-online-f32", 64 << i, 90 << i, 1e-7);
    }
    for (int i = 0; i < 4; i++) { /* at 64 it is faster too, at 128 by a disturbance not */
        add("d=4", "taylor:1", "taylor-packed-f32", 64 << i, i == 1 ? 25 : 9, 1e-2);
        add("d=4", "taylor:1", "taylor-direct-f32", 64 << i, 1, 1e-2);
        add("d=4", "taylor:5", "taylor-packed-f32", 64 << i, 500, 1e-4);
    }
    ck_assert_int_eq(study_cost_below(out, ATTEST_TABLE_CSV, &points, &err), ATTEST_OK);
    fclose(out);
    ck_assert_msg(strstr(text, "d=4,taylor:1,N=256,taylor-packed-f32,9,40,1.0e-02,1.0e-07"), "%s", text);
    ck_assert_msg(strstr(text, "d=4,taylor:5,not up to N=512,taylor-packed-f32,500,80,"), "%s", text);
    attest_results_clear(&points);
}
END_TEST

Suite *suite_study_front(void)
{
    Suite *s = suite_create("study_front");
    TCase *t = tcase_create("front");
    tcase_add_test(t, fronts);
    tcase_add_test(t, where_recurrence_pays);
    suite_add_tcase(s, t);
    return s;
}

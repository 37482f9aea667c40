/* test_study_run.c - a run of a study: grid, seeds, kernels, threads; what ends it, goes on with it, is refused. */
#include "tests/verify/study/study_cases.h"
#include "verify/study/study.h"

Suite *suite_study_run(void);

#define SMALL "order --orders 1,3 --ranges 1,2 --centers zero,max "

START_TEST(every_combination_once)
{
    attest_results r = study_of("order",
                                "--orders 1,3 --ranges 1,2 --centers zero --in f32,bf16 --lengths 8 --dims 2,4");
    static const char *const series[] = { "zero R=1 in=f32 d=2",  "zero R=2 in=f32 d=2",  "zero R=1 in=f32 d=4",
                                          "zero R=2 in=f32 d=4",  "zero R=1 in=bf16 d=2", "zero R=2 in=bf16 d=2",
                                          "zero R=1 in=bf16 d=4", "zero R=2 in=bf16 d=4" };
    ck_assert_uint_eq(r.count, 16);
    for (size_t i = 0; i < 16; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert_str_eq(one.series, series[i / 2]);
        ck_assert_int_eq(one.point, (int64_t)i);
        ck_assert_int_eq(one.seeds, 1);
        ck_assert(one.abscissa == (i % 2 ? 3 : 1) && one.n == 8 && one.d == (i / 4 % 2 ? 4 : 2));
        ck_assert_str_eq(one.in, i < 8 ? "f32" : "bf16");
        ck_assert(one.ordinate == one.truncation && one.ordinate > 0);
        ck_assert(one.ordinate_least == one.ordinate && one.ordinate_most == one.ordinate);
    }
    ck_assert_ptr_nonnull(
        strstr(study_text_of("study-order.md"), "\nKernels: taylor-direct-f32.  Inputs: f32 and bf16.\n"));
    ck_assert_ptr_nonnull(strstr(study_text_of("study-order.md"), "\nAll 16 points.\n"));
    attest_results_clear(&r);
}
END_TEST

/* The point is the result of its median seed; least and greatest are of all. */
START_TEST(seeds_have_a_median_and_a_spread)
{
    double truncation[3], rounding[3], least = INFINITY, most = 0;
    for (int s = 0; s < 3; s++) {
        char options[128];
        snprintf(options, sizeof options, "--orders 2 --ranges 2 --centers zero --families normal --seeds %d", s + 4);
        attest_results one = study_of("order", options);
        ck_assert_uint_eq(one.count, 1);
        truncation[s] = result_at(&one, 0).truncation;
        rounding[s] = result_at(&one, 0).rounding;
        least = fmin(least, rounding[s]);
        most = fmax(most, rounding[s]);
        attest_results_clear(&one);
    }
    attest_results all = study_of("order", "--orders 2 --ranges 2 --centers zero --families normal --seeds 4..6");
    const attest_result r = result_at(&all, 0);
    ck_assert_uint_eq(all.count, 1);
    ck_assert_int_eq(r.seeds, 3);
    ck_assert(r.truncation == truncation[r.seed - 4] && r.rounding == rounding[r.seed - 4]);
    int below = 0, above = 0;
    for (int s = 0; s < 3; s++) {
        below += truncation[s] < r.ordinate;
        above += truncation[s] > r.ordinate;
        ck_assert(truncation[s] >= r.ordinate_least && truncation[s] <= r.ordinate_most);
    }
    ck_assert_msg(below == 1 && above == 1, "%d below, %d above the median", below, above);
    ck_assert(r.ordinate_least < r.ordinate && r.ordinate < r.ordinate_most);
    ck_assert(r.rounding_least == least && r.rounding_most == most);
    attest_results_clear(&all);
}
END_TEST

/* Families that take no range reach it by the scale; their scores are no dyadic numbers. */
START_TEST(the_scale_gives_the_range)
{
    attest_results r = study_of("order",
                                "--orders 3 --ranges 0.25..64 --centers mid --families normal,uniform --in f16");
    ck_assert_uint_eq(r.count, 18);
    for (size_t i = 0; i < r.count; i++) {
        const attest_result one = result_at(&r, i);
        ck_assert_msg(fabs(one.range / ldexp(0.25, (int)(i % 9)) - 1) < 1e-9, "%s: range %g", one.series, one.range);
        ck_assert_msg(strstr(one.problem, "scale="), "%s", one.problem);
    }
    attest_results_clear(&r);
}
END_TEST

/* Kernels one after another; what one does not serve costs the others nothing. */
START_TEST(kernels_side_by_side)
{
    attest_results r = study_of("order", "--orders 1,2 --ranges 1 --centers zero,max --kernel 'taylor-[dr]*'");
    ck_assert_uint_eq(r.count, 6);
    for (size_t i = 0; i < 6; i++) {
        static const char *const series[] = { "zero R=1 taylor-direct-f32", "max R=1 taylor-direct-f32",
                                              "zero R=1 taylor-recurrent-f32" };
        ck_assert_str_eq(result_at(&r, i).series, series[i / 2]);
        ck_assert_ptr_nonnull(strstr(series[i / 2], result_at(&r, i).kernel));
    }
    ck_assert(result_at(&r, 1).truncation == result_at(&r, 5).truncation);
    attest_results_clear(&r);
    ck_assert_int_eq(study_command("order --orders 1 --ranges 1 --centers zero,max --kernel taylor-recurrent-f32"), 0);
    ck_assert_ptr_nonnull(
        strstr(study_text_of("err"), "1 of 2 points are not served, the last because taylor-recurrent"));
    ck_assert_int_eq(study_command("order --orders 1 --ranges 1 --centers max --kernel taylor-recurrent-f32"), 77);
}
END_TEST

/* All that a result says, times and the date apart. */
static void same_results(const attest_results *a, const attest_results *b)
{
    ck_assert_uint_eq(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const attest_result one = result_at(a, i), two = result_at(b, i);
        for (size_t f = 0; f < attest_result_field_count; f++) {
            const attest_field *field = &attest_result_fields[f];
            char x[4096], y[4096];
            attest_field_text(x, sizeof x, &one, field);
            attest_field_text(y, sizeof y, &two, field);
            ck_assert_msg(field->timing || strcmp(field->name, "run") == 0 || strcmp(x, y) == 0,
                          "result %zu: %s: %s, %s", i, field->name, x, y);
        }
    }
}

START_TEST(threads_change_no_number)
{
    attest_results one = study_of("order", "--orders 0..5 --ranges 1,4 --seeds 0,1 --jobs 1");
    char command[256];
    snprintf(command, sizeof command, "mv %s/study-order.jsonl %s/one.jsonl", folder, folder);
    attest_results_clear(&one);
    ck_assert_int_eq(system(command), 0);
    attest_results two = study_of("order", "--orders 0..5 --ranges 1,4 --seeds 0,1 --jobs 3");
    one = results_of("one.jsonl");
    ck_assert_uint_eq(one.count, 48);
    same_results(&one, &two);
    attest_results_clear(&one);
    attest_results_clear(&two);
}
END_TEST

/* A run that is ended keeps its points and says so; the next goes on where it was, and ends as one that was not. */
START_TEST(a_part_is_gone_on_with)
{
    char command[512];
    attest_results whole = study_of("order", "--orders 1,3 --ranges 1,2 --centers zero,max");
    snprintf(command, sizeof command,
             "cp %s/study-order.jsonl %s/whole.jsonl && head -n 3 %s/whole.jsonl >%s/study-order.part "
             "&& head -c 900 %s/whole.jsonl >>%s/study-order.part && rm %s/study-order.*[lgdv]",
             folder, folder, folder, folder, folder, folder, folder);
    ck_assert_int_eq(system(command), 0);
    attest_results_clear(&whole);
    snprintf(command, sizeof command, SMALL "--out %s --resume", folder);
    ck_assert_int_eq(study_command(command), 0);
    ck_assert_msg(strstr(study_text_of("err"), "3 results there already"), "%s", study_text_of("err"));
    attest_results resumed = results_of("study-order.jsonl");
    whole = results_of("whole.jsonl");
    ck_assert_uint_eq(whole.count, 8);
    same_results(&whole, &resumed);
    attest_results_clear(&whole);
    attest_results_clear(&resumed);
    ck_assert(!study_is_there("study-order.part") && !study_is_there("study-order.part.before"));
    ck_assert_int_eq(study_command(command), 2); /* nothing is left to go on with */
    ck_assert_ptr_nonnull(strstr(study_text_of("err"), "--resume: there is no "));
}
END_TEST

START_TEST(an_end_before_the_end)
{
    char command[512];
    snprintf(command, sizeof command, SMALL "--out %s --max-time 0", folder);
    ck_assert_int_eq(study_command(command), 4);
    ck_assert_ptr_nonnull(strstr(study_text_of("err"), "unfinished: 0 of 8 points (--max-time)"));
    ck_assert(study_is_there("study-order.part"));
    ck_assert_ptr_nonnull(strstr(study_text_of("study-order.md"), "Unfinished: 0 of 8 points"));
    ck_assert_ptr_nonnull(strstr(study_text_of("out"), "\nunfinished: 0 of 8 points (--max-time)\n"));
    ck_assert_ptr_nonnull(strstr(study_text_of("study-order.run.json"), "\"planned\": 8"));
    snprintf(command, sizeof command, "order --orders 1,4 --out %s --resume", folder);
    ck_assert_int_eq(study_command(SMALL "--max-time 100"), 0);
    attest_results r = study_of("order", "--orders 1 --ranges 1 --centers zero --max-time 100");
    ck_assert_uint_eq(r.count, 1);
    attest_results_clear(&r);
}
END_TEST

START_TEST(another_request_is_no_part)
{
    char command[512];
    attest_results r = study_of("order", "--orders 1,3 --ranges 1,2 --centers zero,max");
    attest_results_clear(&r);
    snprintf(command, sizeof command, "mv %s/study-order.jsonl %s/study-order.part", folder, folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command, "order --orders 1,3 --ranges 1,2 --centers zero,min --out %s --resume", folder);
    ck_assert_int_eq(study_command(command), 2);
    ck_assert_ptr_nonnull(strstr(study_text_of("err"), "is of a run with other values, kernels or rounds"));
}
END_TEST

/* The numbers do not depend on the picture. */
START_TEST(no_gnuplot_no_loss)
{
    char command[1024];
    snprintf(command, sizeof command,
             "touch %s/study-order.svg; PATH=%s ATTEST_WORKER=%s/attest-worker %s/attest study " SMALL
             "--quiet --out %s 2>%s/err",
             folder, folder, ATTEST_TEST_BUILD, ATTEST_TEST_BUILD, folder, folder);
    const int code = system(command);
    ck_assert_msg(WIFEXITED(code) && WEXITSTATUS(code) == 0, "%s", study_text_of("err"));
    ck_assert_msg(strstr(study_text_of("err"), "no study-order.svg: gnuplot not found"), "%s", study_text_of("err"));
    ck_assert_msg(!study_is_there("study-order.svg"), "the picture of an older run stays");
    attest_results r = results_of("study-order.jsonl");
    ck_assert_uint_eq(r.count, 8);
    attest_results_clear(&r);
    ck_assert(strstr(study_text_of("study-order.csv"), "truncation") && study_is_there("study-order.md"));
}
END_TEST

/* ^C: what is measured is kept and told. */
START_TEST(a_signal)
{
    char command[640];
    snprintf(command, sizeof command,
             "timeout --foreground --preserve-status -s INT 1 " /* without --foreground a second signal may follow */
             "%s/attest study order --seeds 0..2000 --jobs 1 --out %s >%s/out 2>%s/err",
             ATTEST_TEST_BUILD, folder, folder, folder);
    const int code = system(command);
    ck_assert_msg(WIFEXITED(code) && WEXITSTATUS(code) == 130, "%s", study_text_of("err"));
    ck_assert_msg(strstr(study_text_of("err"), " points (SIGINT); the same command with --resume goes on"), "%s",
                  study_text_of("err"));
    ck_assert(study_is_there("study-order.part") && study_is_there("study-order.jsonl"));
}
END_TEST

/* The help names every study of the table. */
START_TEST(help_names_the_studies)
{
    const char *name, *sentence;
    ck_assert_int_eq(study_command("--help"), 0);
    size_t count = 0;
    for (; attest_study_row(&name, &sentence, count); count++) {
        ck_assert_msg(strstr(study_text_of("out"), name), "%s is not in the help", name);
        ck_assert(attest_study_find(name) && strlen(sentence) > 20);
    }
    ck_assert_uint_eq(count, 10);
    ck_assert_ptr_null(attest_study_find("nothing"));
    ck_assert_int_eq(study_command(""), 2);
    ck_assert_ptr_nonnull(strstr(study_text_of("err"), "missing argument: order|range|"));
}
END_TEST

/* One line, exit code 2, before anything runs. */
START_TEST(bad_values)
{
    static const char *const bad[] = {
        "order --orders 65",
        "order --ranges 0",
        "order --centers middle",
        "order --in f8",
        "order --variant nope",
        "order --families nope",
        "order --variant linear",
        "order --kernel nope",
        "order --lengths 0",
        "order --seeds 0..4095 --ranges 2^-100..2^10 --dims 1..1024",
        "range --kernel taylor-direct-f32",
        "range --p f32",
        "order --resume",
        "nothing",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(study_command(bad[i]) == 2, "%s: %s", bad[i], study_text_of("err"));
        const char *said = study_text_of("err");
        const char *newline = strchr(said, '\n');
        ck_assert_msg(strncmp(said, "attest study: ", 14) == 0 && newline && newline[1] == '\0', "%s: %s", bad[i],
                      said);
        ck_assert_str_eq(study_text_of("out"), "");
    }
}
END_TEST

Suite *suite_study_run(void)
{
    Suite *s = suite_create("study_run");
    TCase *t = tcase_create("runs");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, study_setup, study_teardown);
    tcase_add_test(t, every_combination_once);
    tcase_add_test(t, seeds_have_a_median_and_a_spread);
    tcase_add_test(t, the_scale_gives_the_range);
    tcase_add_test(t, kernels_side_by_side);
    tcase_add_test(t, threads_change_no_number);
    tcase_add_test(t, a_part_is_gone_on_with);
    tcase_add_test(t, an_end_before_the_end);
    tcase_add_test(t, another_request_is_no_part);
    tcase_add_test(t, no_gnuplot_no_loss);
    tcase_add_test(t, a_signal);
    tcase_add_test(t, help_names_the_studies);
    tcase_add_test(t, bad_values);
    suite_add_tcase(s, t);
    return s;
}

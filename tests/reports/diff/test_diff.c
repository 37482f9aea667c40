/* test_diff.c - what is a regression between two runs, and since a baseline, and what is none. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "reports/diff/diff.h"
#include "tests/reports/report_cases.h"

Suite *suite_diff(void);

enum { SEEDS = 12, KERNELS = 2, COUNT = KERNELS * SEEDS };

/* One run: each kernel on SEEDS cases, errors of about 2^-22 with a spread of a fifth of a bit. */
static void make_run(attest_result r[COUNT], gsl_rng *rng)
{
    for (int i = 0; i < COUNT; i++) {
        attest_result_init(&r[i]);
        r[i].verdict = ATTEST_PASS;
        snprintf(r[i].kernel, sizeof r[i].kernel, "k%d", i / SEEDS);
        snprintf(r[i].class, sizeof r[i].class, "exp online f32");
        snprintf(r[i].out, sizeof r[i].out, "f32");
        snprintf(r[i].problem, sizeof r[i].problem, "variant=softmax n=9%s seed=%d", i % 2 ? " d=8" : "", i % SEEDS);
        snprintf(r[i].outputs, sizeof r[i].outputs, "%016x", i);
        snprintf(r[i].reproduction, sizeof r[i].reproduction, "attest replay %d", i);
        snprintf(r[i].family, sizeof r[i].family, "normal");
        r[i].seed = i % SEEDS;
        r[i].b = r[i].hq = r[i].hkv = 1;
        r[i].n = r[i].m = 9;
        r[i].d = i % 2 ? 8 : 64;
        r[i].norm_error = ldexp(exp2(gsl_ran_gaussian(rng, 0.2)), -22);
    }
}

/* What is compared with what in one test: two runs, or a baseline that went through its file and a run. */
static attest_diff diff_of(attest_result *then, attest_result *now, int as_baseline)
{
    attest_error err = { "" };
    attest_results before = list_of(then, COUNT), after = list_of(now, COUNT);
    attest_baseline baseline = { 0 };
    attest_diff diff;
    if (as_baseline) {
        ck_assert_int_eq(attest_baseline_of(&baseline, &before, "because", &err), ATTEST_OK);
        ck_assert_msg(attest_baseline_write(&baseline, path_of("base.jsonl"), &err) == ATTEST_OK, "%s", err.text);
        ck_assert_int_eq(attest_baseline_is(path_of("base.jsonl")), 1);
        ck_assert_msg(attest_diff_against(&diff, path_of("base.jsonl"), &after, &err) == ATTEST_OK, "%s", err.text);
    } else {
        ck_assert_msg(attest_results_write_jsonl(&before, path_of("results.jsonl"), &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(attest_diff_against(&diff, folder, &after, &err) == ATTEST_OK, "%s", err.text);
    }
    attest_baseline_clear(&baseline);
    attest_results_clear(&before);
    attest_results_clear(&after);
    return diff;
}

static const attest_change *change_of(const attest_diff *diff, attest_change_kind kind)
{
    for (size_t i = 0; i < diff->count; i++)
        if (diff->change[i].kind == (int64_t)kind)
            return &diff->change[i];
    return NULL;
}

/* _i: 0 two runs, 1 a baseline. */
START_TEST(equal_runs_and_other_draws)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    attest_diff diff = diff_of(then, then, _i);
    ck_assert_uint_eq(diff.count, 0);
    ck_assert_uint_eq(diff.compared, COUNT);
    attest_diff_clear(&diff);
    for (int rerun = 0; rerun < 50; rerun++) {
        make_run(now, rng);
        diff = diff_of(then, now, _i);
        ck_assert_msg(diff.regressions == 0, "rerun %d: %s", rerun, diff.change[0].text);
        attest_diff_clear(&diff);
    }
    gsl_rng_free(rng);
}
END_TEST

START_TEST(an_error_that_grew)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    make_run(now, rng);
    for (int i = 0; i < SEEDS; i++)
        now[i].norm_error *= 8;
    now[3].norm_error *= 2;
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 1);
    const attest_change *c = change_of(&diff, ATTEST_CHANGE_ERROR);
    ck_assert(c == &diff.change[0] && strcmp(c->kernel, "k0") == 0 && fabs(c->shift - 3) < 0.5);
    ck_assert(c->index < SEEDS);
    if (_i == 1)
        ck_assert_str_eq(c->problem, now[3].problem);
    attest_diff_clear(&diff);
    diff = diff_of(now, then, _i); /* the other way round nothing is worse */
    ck_assert_uint_eq(diff.regressions, 0);
    ck_assert_ptr_nonnull(change_of(&diff, ATTEST_CHANGE_BETTER));
    attest_diff_clear(&diff);
    for (int i = 0; i < COUNT; i++) { /* typical figures say more than raw ones */
        then[i].typical_rms = now[i].typical_rms = 1;
        now[i].typical_rms = i < SEEDS ? 1 : 8;
    }
    diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_str_eq(diff.change[0].kernel, "k1");
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

/* One change has one figure: a case that moved 20 bits is cut to 8 by both. */
START_TEST(one_rule)
{
    attest_result then[COUNT], now[COUNT];
    char text[2][256];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    make_run(now, rng);
    for (int i = 0; i < SEEDS; i++)
        now[i].norm_error *= i == 5 ? 0x1p+20 : 0x1p+4;
    for (int as_baseline = 0; as_baseline < 2; as_baseline++) {
        attest_diff diff = diff_of(then, now, as_baseline);
        ck_assert_uint_eq(diff.regressions, 1);
        ck_assert_str_eq(diff.change[0].problem, now[5].problem);
        memcpy(text[as_baseline], diff.change[0].text, sizeof text[0]);
        attest_diff_clear(&diff);
    }
    ck_assert_str_eq(text[0], text[1]);
    gsl_rng_free(rng);
}
END_TEST

/* A case that was skipped and passes hides no other; where all were skipped, it is told that no error is compared. */
START_TEST(a_case_without_an_error)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    then[4].verdict = ATTEST_SKIP;
    then[SEEDS + 1].verdict = ATTEST_UNDECIDED;
    for (int i = 0; i < SEEDS; i++)
        now[i].norm_error *= 8;
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_ptr_nonnull(strstr(diff.change[0].text, "(3.00 bits, noise 0.15, 11 cases, 11 draws)"));
    ck_assert_uint_eq(diff.compared, COUNT);
    attest_diff_clear(&diff);
    for (int all = 0; all < 2; all++) {
        for (int i = 0; i < (all ? COUNT : SEEDS); i++)
            then[i].verdict = ATTEST_SKIP;
        diff = diff_of(then, now, _i);
        ck_assert_uint_eq(diff.regressions, 0);
        ck_assert_uint_eq(diff.compared, all ? 0 : SEEDS);
        const attest_change *c = change_of(&diff, ATTEST_CHANGE_UNCOMPARED);
        ck_assert(c && strcmp(c->kernel, "k0") == 0);
        char line[512];
        attest_diff_headline(line, sizeof line, &diff, "then");
        ck_assert_ptr_nonnull(strstr(line, all ? "errors NOT compared: 2 classes" : "errors NOT compared: 1 class"));
        attest_diff_clear(&diff);
    }
    gsl_rng_free(rng);
}
END_TEST

/* Another order of the sums ends what was exact: beside others, and alone; until it is far from exact. */
START_TEST(exact_is_no_quality)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    make_run(now, rng);
    for (int i = 0; i < COUNT; i++) { /* of k0 a half, of k1 all */
        if (i % 2 || i >= SEEDS)
            then[i].norm_error = 0;
        if (i < SEEDS)
            now[i].norm_error = 0x1.8p-24;
        snprintf(now[i].outputs, sizeof now->outputs, "%016x", COUNT + i);
    }
    for (int i = 0; i < SEEDS; i += 2)
        then[i].norm_error = 0x1.8p-24;
    for (int back = 0; back < 2; back++) {
        attest_diff diff = back ? diff_of(now, then, _i) : diff_of(then, now, _i);
        ck_assert_msg(diff.regressions == 0, "%s", diff.change[0].text);
        ck_assert_uint_eq(diff.compared, COUNT);
        const attest_change *bits = change_of(&diff, ATTEST_CHANGE_BITS);
        ck_assert_ptr_nonnull(bits);
        ck_assert_int_eq(strstr(bits->text, "; 6 were exact and are not") != NULL, !back);
        attest_diff_clear(&diff);
    }
    for (int i = SEEDS; i < COUNT; i++)
        now[i].norm_error = 0x1p-16; /* 256 u */
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_str_eq(diff.change[0].text, "the error grew 85.3 times (6.42 bits, noise 0.14, 12 cases, 12 draws)");
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

/* Equal numbers are rounded alike: all seeds of such a family move together, and are one case. */
START_TEST(repeated_numbers_are_apart)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    for (int i = 0; i < COUNT; i++) {
        then[i].family_constant = now[i].family_constant = i < SEEDS;
        now[i].norm_error *= i < SEEDS ? 2 : 1;
    }
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_msg(diff.count == 0, "%s", diff.change[0].text);
    attest_diff_clear(&diff);
    for (int i = 0; i < SEEDS; i++)
        now[i].norm_error *= 128;
    diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 1);
    ck_assert_ptr_nonnull(strstr(diff.change[0].text, "noise 1.41, 12 cases, 1 draw)"));
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

START_TEST(verdicts_bits_and_cases)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    then[1].verdict = ATTEST_PARTIAL; /* now better */
    now[2].verdict = ATTEST_FAIL;
    now[SEEDS].verdict = ATTEST_SKIP;
    snprintf(now[SEEDS + 1].outputs, sizeof now->outputs, "00000000000000ff");
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 2);
    const attest_change *failure = change_of(&diff, ATTEST_CHANGE_FAILURE);
    const attest_change *verdict = change_of(&diff, ATTEST_CHANGE_VERDICT);
    ck_assert(failure && strcmp(failure->kernel, "k0") == 0 && failure->index == 2);
    ck_assert(verdict && strcmp(verdict->kernel, "k1") == 0 && verdict->index == SEEDS);
    ck_assert_ptr_nonnull(change_of(&diff, ATTEST_CHANGE_BITS));
    ck_assert_str_eq(change_of(&diff, ATTEST_CHANGE_BITS)->problem, now[SEEDS + 1].problem);
    attest_diff_clear(&diff);
    now[2] = then[2];
    now[SEEDS] = then[SEEDS];
    snprintf(now[0].problem, sizeof now->problem, "variant=softmax n=10");
    diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 0);
    ck_assert_ptr_nonnull(change_of(&diff, ATTEST_CHANGE_CASES));
    ck_assert_uint_eq(diff.compared, COUNT - 1); /* all that both have */
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

/* One case better and one worse are two changes, by two runs and by a baseline. */
START_TEST(one_better_and_one_worse)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    then[1].verdict = ATTEST_PARTIAL;
    now[4].verdict = ATTEST_PARTIAL;
    then[SEEDS].verdict = now[SEEDS + 1].verdict = ATTEST_CRASH; /* as many fail as before, but another one */
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 2);
    const attest_change *failure = change_of(&diff, ATTEST_CHANGE_FAILURE);
    const attest_change *verdict = change_of(&diff, ATTEST_CHANGE_VERDICT);
    ck_assert(failure && failure->index == SEEDS + 1);
    ck_assert(verdict && verdict->index == 4);
    ck_assert_str_eq(verdict->text, "1 of 12 cases have a worse verdict, the first was pass and is partial");
    ck_assert_ptr_nonnull(change_of(&diff, ATTEST_CHANGE_BETTER));
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

/* Where one case of a class is new, a failure is a regression, and so is a known case that got worse. */
START_TEST(failures_among_other_cases)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    snprintf(now[0].problem, sizeof now->problem, "variant=softmax n=10");
    now[0].verdict = ATTEST_FAIL;
    then[2].verdict = ATTEST_SKIP;
    now[2].verdict = ATTEST_UNDECIDED;
    attest_diff diff = diff_of(then, now, _i);
    ck_assert_uint_eq(diff.regressions, 2);
    ck_assert_uint_eq(change_of(&diff, ATTEST_CHANGE_FAILURE)->index, 0);
    ck_assert_uint_eq(change_of(&diff, ATTEST_CHANGE_VERDICT)->index, 2);
    ck_assert_ptr_nonnull(change_of(&diff, ATTEST_CHANGE_CASES));
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

START_TEST(faster_and_slower)
{
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    attest_diff diff = diff_of(then, now, 0);
    ck_assert_uint_eq(diff.count, 0); /* nothing was timed */
    attest_diff_clear(&diff);
    for (int i = 0; i < COUNT; i++) {
        then[i].seconds_kernel = 0.01;
        now[i].seconds_kernel = i < SEEDS ? 0.02 : 0.011;
    }
    diff = diff_of(then, now, 0);
    ck_assert_uint_eq(diff.count, 1);
    ck_assert(diff.regressions == 0 && diff.change[0].kind == ATTEST_CHANGE_SPEED);
    ck_assert_str_eq(diff.change[0].kernel, "k0");
    ck_assert_ptr_nonnull(strstr(diff.change[0].text, "2 times slower"));
    attest_diff_clear(&diff);
    gsl_rng_free(rng);
}
END_TEST

/* Each regression becomes one failure without a case; the results of cases stay. */
START_TEST(noted)
{
    attest_error err = { "" };
    attest_result then[COUNT], now[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    memcpy(now, then, sizeof now);
    for (int i = 0; i < SEEDS; i++)
        now[i].norm_error *= 8;
    attest_results before = list_of(then, COUNT), after = list_of(now, COUNT);
    attest_diff diff;
    ck_assert_int_eq(attest_diff_runs(&diff, &before, &after, &err), ATTEST_OK);
    ck_assert_int_eq(attest_diff_note(&after, &diff, "then", &err), ATTEST_OK);
    ck_assert_uint_eq(after.count, COUNT + 1);
    const attest_result r = result_at(&after, COUNT);
    ck_assert(r.verdict == ATTEST_FAIL && r.reasons == ATTEST_REASON_BASELINE && !*r.problem);
    ck_assert_str_eq(r.kernel, "k0");
    ck_assert_ptr_nonnull(strstr(r.why, "error exp online f32: the error grew 8.0 times"));
    ck_assert_ptr_nonnull(strstr(r.reproduction, "attest replay"));
    ck_assert_int_eq(result_at(&after, 0).verdict, ATTEST_PASS);
    attest_diff_clear(&diff);
    ck_assert_int_eq(attest_diff_runs(&diff, &after, &after, &err), ATTEST_OK); /* it is no case of either run */
    ck_assert_uint_eq(diff.count, 0);
    attest_diff_clear(&diff);
    attest_results_clear(&before);
    attest_results_clear(&after);
    gsl_rng_free(rng);
}
END_TEST

/* A run that nothing was compared with, or only a part of one, proves nothing: it ends with exit code 4. */
START_TEST(nothing_compared)
{
    attest_error err = { "" };
    attest_result one[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(one, rng);
    attest_results none = list_of(one, 0), run = list_of(one, COUNT);
    attest_diff diff;
    for (int partial = 0; partial < 2; partial++) {
        ck_assert_int_eq(attest_diff_runs(&diff, partial ? &run : &none, &run, &err), ATTEST_OK);
        if (partial)
            snprintf(diff.partial[0], sizeof diff.partial[0], "then is interrupted");
        const size_t at = run.count;
        ck_assert_int_eq(attest_diff_note(&run, &diff, "then", &err), ATTEST_OK);
        ck_assert_uint_eq(run.count, at + 1);
        const attest_result r = result_at(&run, at);
        ck_assert(r.verdict == ATTEST_NO_EVIDENCE && r.reasons == ATTEST_REASON_BASELINE && !*r.problem);
        ck_assert_str_eq(r.kernel, ATTEST_RESULT_RUN);
        ck_assert_str_eq(r.suite, result_at(&run, 0).suite);
        ck_assert_str_eq(r.why, partial ? "then is interrupted" : "no result could be compared with then");
        ck_assert(!attest_result_unfinished(&r) && attest_result_exit(&r, 0) == 4);
        attest_diff_clear(&diff);
    }
    attest_results_clear(&none);
    attest_results_clear(&run);
    gsl_rng_free(rng);
}
END_TEST

START_TEST(files_that_are_none)
{
    attest_error err = { "" };
    attest_baseline baseline;
    static const char head[] = "{\"attest_baseline\":4}\n";
    static const char *const bad[] = {
        "", "{}\n", "{\"attest_baseline\":3}\n", "x\n", "{\"attest_baseline\":4}\n{}\n", "{\"attest_baseline\":4}\nx\n"
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FILE *out = fopen(path_of("bad.jsonl"), "w");
        fputs(bad[i], out);
        fclose(out);
        ck_assert_int_eq(attest_baseline_read(&baseline, path_of("bad.jsonl"), &err), ATTEST_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err.text, "bad.jsonl"));
    }
    attest_result then[COUNT];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    make_run(then, rng);
    gsl_rng_free(rng);
    attest_results before = list_of(then, COUNT);
    ck_assert_int_eq(attest_baseline_of(&baseline, &before, "because \"x\"", &err), ATTEST_OK);
    ck_assert_uint_eq(baseline.count, KERNELS);
    ck_assert_uint_eq(json_string_length(baseline.line[0].each), 28 * SEEDS);
    ck_assert_int_eq(attest_baseline_write(&baseline, path_of("good.jsonl"), &err), ATTEST_OK);
    attest_baseline_clear(&baseline);
    char *text = strdup(text_of("good.jsonl"));
    ck_assert(strncmp(text, head, strlen(head)) == 0 && strstr(text, "\"error\":\"-0x1.") && strstr(text, "because"));
    ck_assert_uint_eq(occurrences(text, "\n"), 1 + KERNELS);
    static const char key[] = "\"each\":\"";
    char *each = strstr(text, key);
    ck_assert_ptr_nonnull(each);
    for (int of_other_cases = 0; of_other_cases < 2; of_other_cases++) { /* an error more; a digit that is none */
        FILE *out = fopen(path_of("bad.jsonl"), "w");
        each += strlen(key);
        fprintf(out, "%.*s%s%s", (int)(each - text), text, of_other_cases ? "0123456789abcdef0123456789ab" : "z",
                each + !of_other_cases);
        each -= strlen(key);
        fclose(out);
        ck_assert_int_eq(attest_baseline_read(&baseline, path_of("bad.jsonl"), &err), ATTEST_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err.text, of_other_cases ? "bad.jsonl:2: key 'each' is not of 12 cases"
                                                              : "bad.jsonl:2: key 'each' is missing"));
    }
    char *last = strstr(strstr(text, "\n") + 1, "\n") + 1; /* the same line twice */
    FILE *out = fopen(path_of("bad.jsonl"), "w");
    fprintf(out, "%s%s%s", head, last, last);
    fclose(out);
    ck_assert_int_eq(attest_baseline_read(&baseline, path_of("bad.jsonl"), &err), ATTEST_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "bad.jsonl:3"));
    free(text);
    attest_results_clear(&before);
}
END_TEST

Suite *suite_diff(void)
{
    Suite *suite = suite_create("diff");
    TCase *tests = tcase_create("diff");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, equal_runs_and_other_draws, 0, 2);
    tcase_add_loop_test(tests, an_error_that_grew, 0, 2);
    tcase_add_test(tests, one_rule);
    tcase_add_loop_test(tests, a_case_without_an_error, 0, 2);
    tcase_add_loop_test(tests, exact_is_no_quality, 0, 2);
    tcase_add_loop_test(tests, repeated_numbers_are_apart, 0, 2);
    tcase_add_loop_test(tests, verdicts_bits_and_cases, 0, 2);
    tcase_add_loop_test(tests, one_better_and_one_worse, 0, 2);
    tcase_add_loop_test(tests, failures_among_other_cases, 0, 2);
    tcase_add_test(tests, faster_and_slower);
    tcase_add_test(tests, noted);
    tcase_add_test(tests, nothing_compared);
    tcase_add_test(tests, files_that_are_none);
    suite_add_tcase(suite, tests);
    return suite;
}

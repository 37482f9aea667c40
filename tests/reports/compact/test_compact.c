/* test_compact.c - counts are those of the whole list, extremes are kept, halves add up, and nothing grows. */
#include <gsl/gsl_rng.h>
#include <sys/stat.h>

#include "reports/ci/ci.h"
#include "reports/compact/compact.h"
#include "tests/reports/report_cases.h"

Suite *suite_compact(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

/* Result number i of a run: 3 kernels, 4 variants, verdicts and figures by chance. */
static attest_result drawn_result(gsl_rng *random, int i)
{
    static const int verdicts[] = { ATTEST_PASS, ATTEST_PASS, ATTEST_PASS, ATTEST_FAIL, ATTEST_SKIP, ATTEST_ILLPOSED };
    attest_result r;
    attest_result_init(&r);
    snprintf(r.kernel, sizeof r.kernel, "kernel-%d", i % 3);
    snprintf(r.variant, sizeof r.variant, "taylor:%lu", gsl_rng_uniform_int(random, 4));
    snprintf(r.problem, sizeof r.problem, "variant=%s n=%d", r.variant, i);
    snprintf(r.family, sizeof r.family, "normal");
    r.verdict = verdicts[gsl_rng_uniform_int(random, 6)];
    if (r.verdict == ATTEST_SKIP)
        return r;
    snprintf(r.class, sizeof r.class, "taylor direct f%d", 16 << (i % 2));
    r.ratio_hi = exp2(24 * gsl_rng_uniform(random) - 24);
    r.ratio_median = r.ratio_hi * gsl_rng_uniform(random);
    r.ulp_hi = 1000 * gsl_rng_uniform(random);
    r.noticed = gsl_rng_uniform(random);
    r.telling = gsl_rng_uniform(random);
    r.keys_seen = i % 5 ? gsl_rng_uniform(random) : NAN;
    r.term_score = gsl_rng_uniform(random);
    r.term_exp = gsl_rng_uniform(random);
    r.term_cast = r.term_accumulation = r.term_division = 0;
    r.rows_judged = 4;
    r.rows_negative_weight = i % 4;
    return r;
}

/* Both ways: a list of all, if wanted, and counts beside what is kept. */
static void run_of(attest_results *all, attest_results *kept, attest_compact *c, int from, int to)
{
    attest_error err = { "" };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    for (int i = 0; i < to; i++) {
        const attest_result r = drawn_result(random, i);
        const attest_compact_mark mark = { (size_t)i, 0, 0, 1, NAN, NAN };
        int listed;
        if (i < from)
            continue;
        MUST(attest_compact_count(c, &r, &mark, &err));
        MUST(attest_compact_keep(&listed, c, &r, &mark, &err));
        if (listed)
            MUST(attest_results_add(kept, &r, &err));
        if (all)
            MUST(attest_results_add(all, &r, &err));
    }
    gsl_rng_free(random);
}

static attest_status add_to(void *list, const attest_result *r, const attest_compact_mark *mark, attest_error *err)
{
    (void)mark;
    return attest_results_add(list, r, err);
}

static void same_tables(const attest_overview *a, const attest_overview *b)
{
    ck_assert_uint_eq(a->results, b->results);
    ck_assert_uint_eq(a->tallies.count, b->tallies.count);
    ck_assert_int_eq(memcmp(a->by_verdict, b->by_verdict, sizeof a->by_verdict), 0);
    for (size_t i = 0; i < a->tallies.count; i++) {
        const attest_tally *x = &a->tallies.tally[i], *y = b->tallies.tally;
        while (strcmp(x->kernel, y->kernel) != 0)
            y++;
        ck_assert_int_eq(memcmp(x->by_verdict, y->by_verdict, sizeof x->by_verdict), 0);
        ck_assert(x->worst_ratio == y->worst_ratio && x->worst_ulp == y->worst_ulp);
        ck_assert_str_eq(x->worst_problem, y->worst_problem);
    }
    ck_assert_uint_eq(a->signs.count, b->signs.count);
    ck_assert_uint_eq(a->powers.count, b->powers.count);
    for (size_t i = 0; i < a->powers.count; i++) {
        const attest_power *x = &a->powers.power[i], *y = b->powers.power;
        while (strcmp(x->kernel, y->kernel) != 0 || strcmp(x->variant, y->variant) != 0)
            y++;
        ck_assert(x->cases == y->cases && x->keyed == y->keyed);
        ck_assert(fabs(x->telling - y->telling) < 1e-9 && fabs(x->keys_seen - y->keys_seen) < 1e-9);
    }
    ck_assert_uint_eq(a->classes.count, b->classes.count);
    for (size_t i = 0; i < a->classes.count; i++) {
        const attest_class_figures *x = &a->classes.figures[i], *y = &b->classes.figures[i];
        const double bin = exp2(1.0 / 8) * (1 + 1e-12);
        ck_assert_str_eq(x->name, y->name);
        ck_assert(x->cases == y->cases && x->largest == y->largest);
        ck_assert(x->median <= y->median && y->median <= x->median * bin);
        ck_assert(x->p99 <= y->p99 && y->p99 <= x->p99 * bin);
        ck_assert(x->slack_element >= y->slack_element && y->slack_element * bin >= x->slack_element);
        ck_assert(fabs(x->share[0] - y->share[0]) < 1e-9);
    }
}

static int holds(const attest_results *kept, const char *problem)
{
    attest_error err = { "" };
    attest_result r;
    int times = 0;
    for (size_t i = 0; i < kept->count; i++) {
        MUST(attest_results_get(&r, kept, i, &err));
        times += strcmp(r.problem, problem) == 0;
    }
    return times;
}

START_TEST(counts_are_of_all)
{
    enum { RESULTS = 3000 };
    attest_error err = { "" };
    attest_results all = { 0 }, kept = { 0 };
    attest_compact *c;
    attest_whole whole;
    attest_overview of_all, of_kept;
    size_t failures = 0;
    MUST(attest_compact_new(&c, &err));
    run_of(&all, &kept, c, 0, RESULTS);
    MUST(attest_compact_extremes(c, add_to, &kept, &err));
    MUST(attest_compact_whole(&whole, c, &err));
    ck_assert_int_eq(attest_compact_total(c), RESULTS);
    kept.whole = &whole;
    MUST(attest_overview_of(&of_all, &all, &err));
    MUST(attest_overview_of(&of_kept, &kept, &err));
    same_tables(&of_all, &of_kept);
    ck_assert_uint_eq(of_kept.count, kept.count);
    for (size_t k = 0; k < of_all.tallies.count; k++)
        ck_assert_int_eq(holds(&kept, of_all.tallies.tally[k].worst_problem), 1);
    for (size_t i = 0; i < kept.count; i++) {
        attest_result r;
        MUST(attest_results_get(&r, &kept, i, &err));
        failures += r.verdict == ATTEST_FAIL;
    }
    ck_assert_uint_ge(failures, 3 * ATTEST_COMPACT_BAD);
    ck_assert_uint_le(failures, 3 * ATTEST_COMPACT_BAD + 3 * 2 * 3);
    attest_overview_clear(&of_all);
    attest_overview_clear(&of_kept);
    attest_whole_clear(&whole);
    attest_results_clear(&all);
    attest_results_clear(&kept);
    attest_compact_free(c);
}
END_TEST

/* The file of a run, and of the sum of its halves, each read again, but for the order in which shares were added. */
START_TEST(halves_add_up)
{
    attest_error err = { "" };
    attest_results kept = { 0 };
    attest_compact *part[2], *one, *read, *sum;
    attest_whole a, b;
    MUST(attest_compact_new(&one, &err));
    MUST(attest_compact_new(&sum, &err));
    run_of(NULL, &kept, one, 0, 2000);
    for (int i = 0; i < 2; i++) {
        MUST(attest_compact_new(&part[i], &err));
        run_of(NULL, &kept, part[i], 1000 * i, 1000 * (i + 1));
        MUST(attest_compact_write(part[i], path_of("compact.json"), &err));
        MUST(attest_compact_read(&read, path_of("compact.json"), &err));
        MUST(attest_compact_add(sum, read, &err));
        attest_compact_free(read);
        attest_compact_free(part[i]);
    }
    MUST(attest_compact_whole(&a, one, &err));
    MUST(attest_compact_whole(&b, sum, &err));
    ck_assert_uint_eq(a.results, 2000);
    ck_assert_int_eq(memcmp(a.by_verdict, b.by_verdict, sizeof a.by_verdict), 0);
    for (size_t i = 0; i < a.classes.count; i++)
        ck_assert(a.classes.figures[i].median == b.classes.figures[i].median &&
                  a.classes.figures[i].p99 == b.classes.figures[i].p99 &&
                  a.classes.figures[i].largest == b.classes.figures[i].largest);
    attest_whole_clear(&a);
    attest_whole_clear(&b);
    attest_results_clear(&kept);
    attest_compact_free(one);
    attest_compact_free(sum);
}
END_TEST

static size_t bytes_of(int results, size_t *count)
{
    attest_error err = { "" };
    attest_results kept = { 0 };
    attest_compact *c;
    struct stat about;
    MUST(attest_compact_new(&c, &err));
    run_of(NULL, &kept, c, 0, results);
    MUST(attest_compact_extremes(c, add_to, &kept, &err));
    MUST(attest_compact_write(c, path_of("size.json"), &err));
    ck_assert_int_eq(stat(path_of("size.json"), &about), 0);
    *count = kept.count;
    attest_results_clear(&kept);
    attest_compact_free(c);
    return (size_t)about.st_size;
}

/* 20 times the results: as many kept, and a file that is longer by digits and rare bins. */
START_TEST(nothing_grows)
{
    size_t few, many;
    const size_t small = bytes_of(5000, &few), large = bytes_of(100000, &many);
    ck_assert_uint_le(many, few + 12); /* an extreme that is listed as a failure in one run only */
    ck_assert_uint_le(large, small + small / 3);
}
END_TEST

START_TEST(no_evidence)
{
    attest_error err = { "" };
    attest_compact *c;
    attest_whole whole;
    attest_result r;
    attest_result_init(&r);
    snprintf(r.kernel, sizeof r.kernel, "k");
    snprintf(r.variant, sizeof r.variant, "softmax");
    snprintf(r.problem, sizeof r.problem, "p");
    MUST(attest_compact_new(&c, &err));
    const attest_compact_mark fixed = { .evidence = 0 }, drawn = { .drawn = 1 };
    MUST(attest_compact_count(c, &r, &fixed, &err));
    MUST(attest_compact_count(c, &r, &drawn, &err));
    r.verdict = ATTEST_FAIL;
    MUST(attest_compact_count(c, &r, &fixed, &err));
    snprintf(r.variant, sizeof r.variant, "retnet");
    r.verdict = ATTEST_PASS;
    MUST(attest_compact_count(c, &r, &(attest_compact_mark){ .evidence = 1 }, &err));
    attest_compact_no_evidence(c);
    MUST(attest_compact_whole(&whole, c, &err));
    ck_assert_uint_eq(whole.by_verdict[ATTEST_NO_EVIDENCE], 1);
    ck_assert_uint_eq(whole.by_verdict[ATTEST_PASS], 2);
    ck_assert_uint_eq(whole.by_verdict[ATTEST_FAIL], 1);
    attest_whole_clear(&whole);
    attest_compact_free(c);
}
END_TEST

START_TEST(what_is_no_file)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"schema\": \"attest-compact-0\", \"cases\": 0, \"variants\": [], \"classes\": []}",
        "{\"schema\": \"attest-compact-1\", \"cases\": -1, \"variants\": [], \"classes\": []}",
        "{\"schema\": \"attest-compact-1\", \"cases\": 1, \"variants\": {}, \"classes\": []}",
        "{\"schema\": \"attest-compact-1\", \"cases\": 1, \"variants\": [{\"kernel\": 3}], \"classes\": []}",
        "{\"schema\": \"attest-compact-1\", \"cases\": 1, \"variants\": [], \"classes\": [{\"kernel\": \"k\"}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        attest_error err = { "" };
        attest_compact *c;
        FILE *out = fopen(path_of("bad.json"), "w");
        ck_assert(fputs(texts[i], out) >= 0 && fclose(out) == 0);
        ck_assert_msg(attest_compact_read(&c, path_of("bad.json"), &err) == ATTEST_BAD_INPUT, "text %zu", i);
        ck_assert_ptr_null(c);
        ck_assert_ptr_nonnull(strstr(err.text, "bad.json"));
    }
}
END_TEST

/* JUnit counts the testcases that it has; how many results there were is a property. */
START_TEST(junit_counts_what_is_there)
{
    attest_error err = { "" };
    attest_results kept = { 0 };
    attest_whole whole = { 0 };
    attest_compact *c = NULL;
    size_t tests = 0, failures = 0, skipped = 0, properties = 0;
    MUST(attest_compact_new(&c, &err));
    run_of(NULL, &kept, c, 0, 3000);
    MUST(attest_compact_whole(&whole, c, &err));
    kept.whole = &whole;
    MUST(attest_ci_write_junit(&kept, path_of("junit.xml"), &err));
    const char *text = text_of("junit.xml");
    for (const char *at = strstr(text, "<testsuite name="); at; at = strstr(at + 1, "<testsuite name=")) {
        size_t n[4], of_kernel = 0;
        ck_assert_int_eq(sscanf(strstr(at, " tests="), " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
                                &n[0], &n[1], &n[2], &n[3]),
                         4);
        tests += n[0];
        failures += n[1];
        skipped += n[3];
        ck_assert_int_eq(sscanf(strchr(at, '>'), "> <properties><property name=\"results\" value=\"%zu\"", &of_kernel),
                         1);
        ck_assert_uint_eq(of_kernel, 1000);
        properties++;
    }
    ck_assert_uint_eq(properties, 3);
    ck_assert_uint_eq(tests, kept.count);
    ck_assert_uint_eq(occurrences(text, "<testcase "), kept.count);
    ck_assert_uint_eq(occurrences(text, "<failure "), failures);
    ck_assert_uint_eq(occurrences(text, "<skipped "), skipped);
    char all[64];
    snprintf(all, sizeof all, "<testsuites name=\"attest\" tests=\"%zu\">", kept.count);
    ck_assert_ptr_nonnull(strstr(text, all));
    attest_whole_clear(&whole);
    attest_results_clear(&kept);
    attest_compact_free(c);
}
END_TEST

Suite *suite_compact(void)
{
    Suite *suite = suite_create("compact");
    TCase *tests = tcase_create("compact");
    tcase_add_unchecked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, counts_are_of_all);
    tcase_add_test(tests, halves_add_up);
    tcase_add_test(tests, nothing_grows);
    tcase_add_test(tests, no_evidence);
    tcase_add_test(tests, what_is_no_file);
    tcase_add_test(tests, junit_counts_what_is_there);
    suite_add_tcase(suite, tests);
    return suite;
}

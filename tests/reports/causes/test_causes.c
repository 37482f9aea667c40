/* test_causes.c - groups of failures: one condition, two at once, one after another, and none where there is none. */
#include "reports/causes/causes.h"
#include "tests/reports/report_cases.h"

Suite *suite_causes(void);

typedef int fails(int n, int m, int masked);

/* 96 cases: n, m in 1..64, with and without a mask; `wrong` says which fail. */
static attest_causes causes_of(fails *wrong, const char *norm)
{
    static attest_result r[96];
    attest_causes *list, found = { 0 };
    attest_error err = { "" };
    size_t count = 0, failed;
    static const int sizes[] = { 1, 2, 5, 16, 17, 33, 40, 64 };
    for (int i = 0; i < 96; i++) {
        const int n = sizes[i % 8], m = sizes[(i / 8) % 6 + 1], masked = i / 48;
        attest_result_init(&r[i]);
        r[i].verdict = wrong(n, m, masked) ? ATTEST_FAIL : ATTEST_PASS;
        r[i].n = n;
        r[i].m = m;
        r[i].d = r[i].e = r[i].b = r[i].hq = r[i].hkv = 1;
        snprintf(r[i].kernel, sizeof r[i].kernel, "k");
        snprintf(r[i].norm, sizeof r[i].norm, "%s", r[i].verdict == ATTEST_FAIL ? norm : "sum");
        snprintf(r[i].problem, sizeof r[i].problem, "variant=softmax%s n=%d m=%d", masked ? " mask=causal" : "", n, m);
        snprintf(r[i].reproduction, sizeof r[i].reproduction, "attest replay 'n=%d m=%d'", n, m);
    }
    attest_results results = list_of(r, 96);
    ck_assert_msg(attest_causes_find(&list, &count, &results, &err) == ATTEST_OK, "%s", err.text);
    failed = 0;
    for (int i = 0; i < 96; i++)
        failed += r[i].verdict == ATTEST_FAIL;
    ck_assert_uint_eq(count, failed > 0);
    if (count)
        found = list[0];
    ck_assert_uint_eq(found.failed, failed);
    free(list);
    attest_results_clear(&results);
    return found;
}

static int none(int n, int m, int masked) { return n + m + masked < 0; }
static int long_keys(int n, int m, int masked) { return m > 16 && n + masked >= 0; }
static int masked_odd(int n, int m, int masked) { return masked && n % 8 != 0 && m > 0; }
static int either(int n, int m, int masked) { return (masked && n > 0) || m > 32; }
static int unmasked(int n, int m, int masked) { return !masked && n + m > 0; }
static int scattered(int n, int m, int masked) { return (n * 7 + m * 13 + masked * 29) % 5 < 2; }

START_TEST(one_condition)
{
    const attest_causes found = causes_of(long_keys, "sum");
    ck_assert_uint_eq(found.count, 1);
    ck_assert_str_eq(found.cause[0].text, "m > 16");
    ck_assert_uint_eq(found.cause[0].of_failed, found.failed);
    ck_assert_uint_eq(found.cause[0].of_passed, 0);
    ck_assert_uint_eq(found.cause[0].smallest, 24); /* n=1, m=17: the fourth m is the first above 16 */
    ck_assert_uint_eq(found.left, 0);
}
END_TEST

START_TEST(two_at_once)
{
    const attest_causes found = causes_of(masked_odd, "sum");
    ck_assert_uint_eq(found.count, 1);
    ck_assert_str_eq(found.cause[0].text, "mask=causal and n % 8 != 0");
    ck_assert_uint_eq(found.cause[0].of_passed, 0);
}
END_TEST

START_TEST(two_after_another)
{
    const attest_causes found = causes_of(either, "sum");
    ck_assert_uint_eq(found.count, 2);
    ck_assert_str_eq(found.cause[0].text, "mask=causal");
    ck_assert_str_eq(found.cause[1].text, "m > 32");
    ck_assert_uint_eq(found.cause[0].of_failed + found.cause[1].of_failed, found.failed);
}
END_TEST

/* What a preset stands for is a condition too. */
START_TEST(of_the_preset)
{
    const attest_causes found = causes_of(scattered, "sink");
    ck_assert_uint_eq(found.count, 1);
    ck_assert_str_eq(found.cause[0].text, "norm=sink");
}
END_TEST

/* The other way round: those fail that do not say it. */
START_TEST(what_is_not_given)
{
    const attest_causes found = causes_of(unmasked, "sum");
    ck_assert_uint_eq(found.count, 1);
    ck_assert_str_eq(found.cause[0].text, "mask not given");
}
END_TEST

START_TEST(no_condition)
{
    ck_assert_uint_eq(causes_of(scattered, "sum").count, 0);
    ck_assert_uint_eq(causes_of(none, "sum").count, 0);
}
END_TEST

/* Who is in a group: the smallest first, never a pass, nobody twice; who is in none is in the rest. */
START_TEST(members)
{
    const attest_causes many = causes_of(masked_odd, "sum"), loose = causes_of(scattered, "sum");
    const attest_cause *groups[] = { &many.cause[0], &loose.rest };
    ck_assert_uint_eq(many.rest.members, 0);
    ck_assert_uint_eq(many.cause[0].members, ATTEST_CAUSE_MEMBERS);
    ck_assert_uint_eq(loose.rest.of_failed, loose.failed);
    for (int g = 0; g < 2; g++) {
        static const int sizes[] = { 1, 2, 5, 16, 17, 33, 40, 64 };
        int before = 0;
        ck_assert_uint_gt(groups[g]->members, 1);
        ck_assert_uint_eq(groups[g]->member[0], groups[g]->smallest);
        for (size_t i = 0; i < groups[g]->members; i++) {
            const int at = (int)groups[g]->member[i], n = sizes[at % 8], m = sizes[(at / 8) % 6 + 1];
            ck_assert((g ? scattered : masked_odd)(n, m, at / 48));
            ck_assert_msg(n * m >= before, "member %zu", i);
            before = n * m;
            for (size_t k = 0; k < i; k++)
                ck_assert_uint_ne(groups[g]->member[i], groups[g]->member[k]);
        }
    }
    const size_t last = many.cause[0].member[ATTEST_CAUSE_MEMBERS - 1]; /* the largest is asked too */
    ck_assert_uint_eq(last, 48 + 8 * 5 + 5);                            /* mask, n=33, m=40 */
}
END_TEST

Suite *suite_causes(void)
{
    Suite *suite = suite_create("causes");
    TCase *tc = tcase_create("groups");
    tcase_add_test(tc, one_condition);
    tcase_add_test(tc, two_at_once);
    tcase_add_test(tc, two_after_another);
    tcase_add_test(tc, of_the_preset);
    tcase_add_test(tc, what_is_not_given);
    tcase_add_test(tc, no_condition);
    tcase_add_test(tc, members);
    suite_add_tcase(suite, tc);
    return suite;
}

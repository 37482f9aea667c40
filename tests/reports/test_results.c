/* test_results.c - the list of results: what is asked for again, by many threads, in another order. */
#include <pthread.h>

#include "reports/results.h"
#include "tests/reports/report_cases.h"

Suite *suite_results(void);

/* What is asked for a second time comes from what was read the first time: every field of it, and of one that was
 * replaced since; with texts that fill their fields, or are empty. */
START_TEST(test_asked_again)
{
    attest_results results = { 0 };
    attest_error err;
    for (int i = 0; i < 6; i++) {
        attest_result one = sample(i);
        for (size_t f = 0; f < attest_result_field_count && i % 3; f++)
            if (attest_result_fields[f].type == ATTEST_FIELD_TEXT) {
                char *text = (char *)&one + attest_result_fields[f].offset;
                memset(text, 0, attest_result_fields[f].size);
                memset(text, 'a' + i, i % 3 == 1 ? attest_result_fields[f].size - 1 : 0);
            }
        ck_assert_int_eq(attest_results_add(&results, &one, &err), ATTEST_OK);
    }
    for (size_t i = 0; i < results.count; i++) {
        attest_result first, again;
        memset(&again, 1, sizeof again);
        ck_assert_int_eq(attest_results_get(&first, &results, i, &err), ATTEST_OK);
        ck_assert_uint_gt(results.line[i].image_length, 0);
        ck_assert_int_eq(attest_results_get(&again, &results, i, &err), ATTEST_OK);
        char *one = attest_result_json(&first), *two = attest_result_json(&again);
        ck_assert_str_eq(one, two);
        free(one);
        free(two);
    }
    attest_result other = sample(9);
    ck_assert_int_eq(attest_results_replace(&results, 2, &other, &err), ATTEST_OK);
    const attest_result got = result_at(&results, 2);
    ck_assert(got.n == other.n && strcmp(got.why, other.why) == 0);
    attest_results_clear(&results);
}
END_TEST

/* ---- by many threads --------------------------------------------------------------------------------------------- */
enum { ASKED = 400, THREADS = 8 };

typedef struct asker {
    const attest_results *results;
    int number, wrong;
} asker;

/* Each begins elsewhere; all ask for every result, twice. */
static void *ask_all(void *at)
{
    asker *one = (asker *)at;
    for (int i = 0; i < 2 * ASKED; i++) {
        const int index = (i + one->number * ASKED / THREADS) % ASKED;
        attest_result got, want = sample(index % 30);
        attest_error err;
        want.seed = index;
        if (attest_results_get(&got, one->results, (size_t)index, &err) != ATTEST_OK || got.seed != want.seed ||
            strcmp(got.why, want.why) != 0 || got.n != want.n)
            one->wrong++;
    }
    return NULL;
}

/* Files are made side by side from one list, and checks of other kernels read it at once. */
START_TEST(test_asked_at_once)
{
    pthread_t thread[THREADS];
    asker one[THREADS];
    attest_error err;
    for (int round = 0; round < 5; round++) {
        attest_results results = { 0 };
        for (int i = 0; i < ASKED; i++) {
            attest_result r = sample(i % 30);
            r.seed = i;
            ck_assert_int_eq(attest_results_add(&results, &r, &err), ATTEST_OK);
        }
        for (int t = 0; t < THREADS; t++) {
            one[t] = (asker){ .results = &results, .number = t };
            ck_assert_int_eq(pthread_create(&thread[t], NULL, ask_all, &one[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            ck_assert_int_eq(pthread_join(thread[t], NULL), 0);
            ck_assert_msg(one[t].wrong == 0, "thread %d read %d wrong results", t, one[t].wrong);
        }
        attest_results_clear(&results);
    }
}
END_TEST

/* The order changes which number a result has, not what was read of it. */
START_TEST(test_order_of_what_was_read)
{
    attest_error err;
    attest_result given[3];
    const size_t order[3] = { 2, 0, 1 };
    for (int i = 0; i < 3; i++)
        given[i] = sample(i);
    attest_results results = list_of(given, 3);
    for (size_t i = 0; i < 3; i++)
        result_at(&results, i);
    ck_assert_int_eq(attest_results_order(&results, order, &err), ATTEST_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(result_at(&results, i).why, given[order[i]].why);
    attest_results_clear(&results);
}
END_TEST

/* Bytes that are not those of a result are refused, whatever they hold. */
START_TEST(test_other_bytes)
{
    char image[sizeof(attest_result)];
    attest_result one = sample(3), back;
    const size_t length = attest_result_pack(image, &one);
    ck_assert(attest_result_unpack(&back, image, length) && strcmp(back.why, one.why) == 0);
    ck_assert(!attest_result_unpack(&back, image, length - 1));
    ck_assert(!attest_result_unpack(&back, image, length + 1 <= sizeof image ? length + 1 : 0));
    ck_assert(!attest_result_unpack(&back, image, 0));
    memset(image, 'x', sizeof image); /* no text ends */
    ck_assert(!attest_result_unpack(&back, image, sizeof image));
}
END_TEST

Suite *suite_results(void)
{
    Suite *s = suite_create("results");
    TCase *t = tcase_create("results");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_asked_again);
    tcase_add_test(t, test_asked_at_once);
    tcase_add_test(t, test_order_of_what_was_read);
    tcase_add_test(t, test_other_bytes);
    suite_add_tcase(s, t);
    return s;
}

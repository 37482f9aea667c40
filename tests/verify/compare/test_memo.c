/* test_memo.c - equal outputs are judged once, in the same words; anything else that differs is judged anew. */
#include "tests/verify/compare/compare_scene.h"

Suite *suite_memo(void);

enum { WITHOUT_TRUTH = 0, WITH_TRUTH = 1 };

/* Without a truth only what is kept can answer. */
static void ask_as(attest_result *result, attest_memo *memo, int stage, const scene *s, int truth,
                   const attest_numerics *numerics, uint32_t flags, double claim, unsigned char *keys)
{
    attest_error err = { "" };
    attest_result_init(result);
    ok(attest_memo_compare(memo, stage, result, truth ? s->truth : NULL, NULL, &s->c, s->outputs, numerics, flags,
                           claim, keys, &err),
       &err);
}

static void ask(attest_result *result, attest_memo *memo, int stage, const scene *s, int truth,
                const attest_numerics *numerics, unsigned char *keys)
{
    ask_as(result, memo, stage, s, truth, numerics, 0, 0, keys);
}

/* Every field but who it is about. */
static void check_equal(const attest_result *a, const attest_result *b)
{
    for (size_t i = 0; i < attest_result_field_count; i++) {
        const attest_field *f = &attest_result_fields[i];
        if (strcmp(f->name, "kernel") != 0)
            ck_assert_msg(memcmp((const char *)a + f->offset, (const char *)b + f->offset, f->size) == 0, "%s",
                          f->name);
    }
}

START_TEST(test_equal_outputs)
{
    const attest_numerics two_pass = { .struct_size = sizeof two_pass, .schedule = ATTEST_SCHEDULE_TWO_PASS };
    const attest_numerics online = { .struct_size = sizeof online, .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 2 };
    attest_memo *memo = attest_memo_new();
    attest_result first, again;
    scene s;
    open_scene(&s, "variant=softmax n=5 d=4", NULL);
    attest_tensor *o = give(&s, O);
    ask(&first, memo, 0, &s, WITH_TRUTH, &two_pass, NULL);
    ck_assert_int_eq(first.verdict, ATTEST_PASS);
    ask(&again, memo, 0, &s, WITHOUT_TRUTH, &two_pass, NULL);
    check_equal(&first, &again);
    ask(&again, memo, 0, &s, WITH_TRUTH, &online, NULL); /* declares something else */
    ck_assert_str_ne(first.class, again.class);
    const uint64_t was = attest_load_bits(o, 7);
    put(o, 7, attest_load(o, 7) + 1);
    ask(&again, memo, 0, &s, WITH_TRUTH, &two_pass, NULL); /* another element */
    ck_assert_int_eq(again.verdict, ATTEST_FAIL);
    attest_store_bits(o, 7, was);
    ask(&again, memo, 0, &s, WITHOUT_TRUTH, &two_pass, NULL);
    check_equal(&first, &again);
    give(&s, LSE);
    ask(&again, memo, 0, &s, WITH_TRUTH, &two_pass, NULL); /* one output more */
    ck_assert(again.elements_judged > first.elements_judged);
    ask(&again, NULL, 0, &s, WITH_TRUTH, &two_pass, NULL);
    ck_assert(again.elements_judged > first.elements_judged);
    ask_as(&again, memo, 0, &s, WITH_TRUTH, &two_pass, ATTEST_LSE_BASE2, 0, NULL); /* lse is told in the other base */
    ck_assert_int_eq(again.reasons, ATTEST_REASON_LSE);
    ask_as(&again, memo, 0, &s, WITH_TRUTH, &two_pass, 0, 1e-9, NULL); /* a claim that it does not keep */
    ck_assert_int_eq(again.reasons, ATTEST_REASON_CLAIM);
    attest_memo_free(memo);
    close_scene(&s);
}
END_TEST

/* The keys before a call are part of the question, those after it of the answer. */
START_TEST(test_keys)
{
    const attest_numerics two_pass = { .struct_size = sizeof two_pass, .schedule = ATTEST_SCHEDULE_TWO_PASS };
    unsigned char kept[9] = { 0 }, keys[9] = { 0 }, others[9];
    attest_memo *memo = attest_memo_new();
    attest_result first, again;
    scene s, other;
    open_scene(&s, "variant=softmax n=5 m=9 d=4", NULL);
    open_scene(&other, "variant=softmax n=5 m=9 d=4 seed=1", NULL);
    give(&s, O);
    ask(&first, memo, 1, &s, WITH_TRUTH, &two_pass, kept);
    ck_assert_int_ne(kept[0], 0);
    ask(&again, memo, 1, &s, WITHOUT_TRUTH, &two_pass, keys);
    ck_assert_mem_eq(kept, keys, sizeof keys);
    check_equal(&first, &again);
    memset(others, ATTEST_KEY_VISIBLE, sizeof others);
    memset(keys, 0, sizeof keys);
    scene wrong = s; /* the same outputs, beside another truth */
    wrong.truth = other.truth;
    ask(&again, memo, 1, &wrong, WITH_TRUTH, &two_pass, others);
    ck_assert_int_eq(again.verdict, ATTEST_FAIL);
    ask(&again, memo, 2, &wrong, WITH_TRUTH, &two_pass, keys);
    ck_assert_int_eq(again.verdict, ATTEST_FAIL);
    attest_memo_free(memo);
    close_scene(&other);
    close_scene(&s);
}
END_TEST

Suite *suite_memo(void)
{
    Suite *suite = suite_create("memo");
    TCase *tests = tcase_create("memo");
    tcase_add_test(tests, test_equal_outputs);
    tcase_add_test(tests, test_keys);
    suite_add_tcase(suite, tests);
    return suite;
}

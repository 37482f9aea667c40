/* test_rounded.c - correctly rounded outputs: against the truth at 2048 bits, and where the truth is a boundary. */
#include "tests/reference/truth/truth_case.h"

#include <stdio.h>
#include <stdlib.h>

Suite *suite_rounded(void);

/* Every element against the rounding of both ends of the truth at 2048 bits. */
START_TEST(rounding_holds)
{
    static const char *const lines[] = { "n=7 d=4 hq=2 b=2", "variant=softmax1 n=4 d=3 in=f64", "variant=based n=4 d=3",
                                         "variant=linear-elu n=4 d=3", "family=negative n=6 d=4" };
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    arb_t truth;
    arb_init(truth);
    for (int k = 0; k < 5 * 4 * 4; k++) {
        const attest_role role = roles[k / 5 % 4];
        const uint32_t dtype = (uint32_t)(k / 20);
        attest_rounding_counts counts = { 0 };
        attest_tensor out;
        truth_case t;
        start(&t, lines[k % 5], 1, ATTEST_ENGINE_AUTO);
        MUST(attest_truth_rounded(&out, t.truth, ROLE(role), dtype, &counts, &t.x.err), &t.x);
        ck_assert(out.dtype == dtype && out.bits == 8 * attest_dtype_bytes(dtype));
        for (int64_t at = 0; at < attest_tensor_count(&out); at++) {
            uint64_t want;
            sharp(truth, &t, role, at);
            ck_assert(ref_round_ball(&want, truth, dtype));
            ck_assert_msg(attest_load_bits(&out, at) == want, "%s: %s element %d in dtype %u: %a", lines[k % 5],
                          attest_roles[role].name, (int)at, dtype, attest_load(&out, at));
        }
        ck_assert_int_eq(counts.by_enclosure, attest_tensor_count(&out));
        ck_assert_int_eq(counts.by_tie + counts.open_at_ball + counts.at_cap + counts.no_truth, 0);
        free(out.data);
        stop(&t);
    }
    arb_clear(truth);
}
END_TEST

/* Two groups of equal scores whose values have the same mean: o is that mean exactly, and no ball shows it.
 * `mean` is a middle of two floats, or 0 between the zeros; `off` moves one value and ends the tie. */
static void check_tie(double mean, double spread, double off, double expected, int ties)
{
    attest_rounding_counts counts = { 0 };
    attest_tensor out;
    truth_case t;
    start(&t, "n=1 m=4 d=1 e=1 in=f64 out=f32", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_Q, 0, 0, 1);
    for (int64_t j = 0; j < 4; j++) {
        put(&t, ATTEST_K, j, 0, j < 2 ? 0.5 : 0.25);
        put(&t, ATTEST_V, j, 0, mean + (j % 2 ? spread : -spread) + (j == 3 ? off : 0));
    }
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_O), ATTEST_F32, &counts, &t.x.err), &t.x);
    ck_assert_msg(attest_load(&out, 0) == expected, "mean %a off %a rounds to %a, not %a", mean, off,
                  attest_load(&out, 0), expected);
    ck_assert_msg(counts.by_tie == ties && counts.open_at_ball == ties && counts.by_enclosure == !ties &&
                      counts.at_cap == 0,
                  "mean %a off %a: by_tie %d", mean, off, (int)counts.by_tie);
    free(out.data);
    stop(&t);
}

START_TEST(ties)
{
    check_tie(1 + 0x1p-24, 0x1p-10, 0, 1, 1);               /* to even: down */
    check_tie(1 + 3 * 0x1p-24, 0x1p-10, 0, 1 + 0x1p-22, 1); /* to even: up */
    check_tie(1 + 0x1p-24, 0x1p-10, 0x1p-50, 1 + 0x1p-23, 0);
    check_tie(1 + 0x1p-24, 0x1p-10, -0x1p-50, 1, 0);
    check_tie(0, 0.75, 0, 0, 1);
    check_tie(-(0x1p-149 + 0x1p-150), 0x1p-149, 0, -0x1p-148, 1); /* subnormal */
    check_tie(1.5, 0.25, 0, 1.5, 0);                              /* a float: no boundary */
}
END_TEST

/* o = boundary + about 2^-1443: open at 512 bits, no tie, and the loop goes on until balls show it. */
START_TEST(nearly_a_tie)
{
    attest_rounding_counts counts = { 0 };
    attest_tensor out;
    truth_case t;
    start(&t, "n=1 m=2 d=1 e=1 in=f64 out=f32 scale=1", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_Q, 0, 0, 1);
    put(&t, ATTEST_K, 1, 0, -1000);
    put(&t, ATTEST_V, 0, 0, 1 + 0x1p-24);
    put(&t, ATTEST_V, 1, 0, 2);
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_O), ATTEST_F32, &counts, &t.x.err), &t.x);
    ck_assert_msg(attest_load(&out, 0) == 1 + 0x1p-23, "%a", attest_load(&out, 0));
    ck_assert(counts.open_at_ball == 1 && counts.by_tie == 0 && counts.by_enclosure == 1 && counts.at_cap == 0);
    free(out.data);
    stop(&t);
    start(&t, "n=1 m=2 d=1 e=1 in=f64 out=f32 scale=1", 0, ATTEST_ENGINE_AUTO); /* o is the boundary, u = o z is not */
    put(&t, ATTEST_Q, 0, 0, 1);
    put(&t, ATTEST_K, 1, 0, -1000);
    put(&t, ATTEST_V, 0, 0, 1 + 0x1p-24);
    put(&t, ATTEST_V, 1, 0, 1 + 0x1p-24);
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_U), ATTEST_F32, &counts, &t.x.err), &t.x);
    ck_assert_msg(attest_load(&out, 0) == 1 + 0x1p-23 && counts.by_tie == 0, "u: %a", attest_load(&out, 0));
    free(out.data);
    stop(&t);
}
END_TEST

/* lse of one key is its score: 1 + 2^-24 lies between two floats; of two equal keys it is s + ln 2. */
START_TEST(tie_of_lse)
{
    for (int keys = 1; keys <= 2; keys++) {
        attest_rounding_counts counts = { 0 };
        attest_tensor out;
        truth_case t;
        start(&t, keys == 1 ? "n=1 m=1 d=1 in=f64 scale=1" : "n=1 m=2 d=1 in=f64 scale=1", 0, ATTEST_ENGINE_AUTO);
        put(&t, ATTEST_Q, 0, 0, 1);
        for (int64_t j = 0; j < keys; j++)
            put(&t, ATTEST_K, j, 0, 1 + 0x1p-24);
        MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_LSE), ATTEST_F32, &counts, &t.x.err), &t.x);
        ck_assert_int_eq(counts.by_tie, keys == 1);
        ck_assert_int_eq(counts.at_cap, 0);
        if (keys == 1)
            ck_assert_msg(attest_load(&out, 0) == 1, "%a", attest_load(&out, 0));
        free(out.data);
        stop(&t);
    }
}
END_TEST

/* lse = 1 + 2^-24 + about e^-1001: above the middle, though the first key's score is the middle. */
START_TEST(nearly_a_tie_of_lse)
{
    attest_rounding_counts counts = { 0 };
    attest_tensor out;
    truth_case t;
    start(&t, "n=1 m=2 d=1 in=f64 scale=1", 0, ATTEST_ENGINE_AUTO);
    put(&t, ATTEST_Q, 0, 0, 1);
    put(&t, ATTEST_K, 0, 0, 1 + 0x1p-24);
    put(&t, ATTEST_K, 1, 0, -1000);
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_LSE), ATTEST_F32, &counts, &t.x.err), &t.x);
    ck_assert_msg(attest_load(&out, 0) == 1 + 0x1p-23 && counts.by_tie == 0, "%a", attest_load(&out, 0));
    free(out.data);
    stop(&t);
}
END_TEST

/* family=flat: means of equal weights often are middles of two floats.  None ends at the cap; what balls leave
 * open is decided by the tie lemma. */
START_TEST(flat_ties)
{
    static const char *const lines[] = { "family=flat in=bf16 n=16 d=8", "family=flat in=bf16 n=64 d=8 mask=causal",
                                         "family=flat in=f32 n=64 d=8",
                                         "family=flat in=f32 n=64 d=8 mask=causal hq=2" };
    int64_t all_open = 0, all_ties = 0;
    for (int k = 0; k < 4; k++) {
        attest_rounding_counts counts = { 0 };
        attest_tensor out;
        truth_case t;
        start(&t, lines[k], 1, ATTEST_ENGINE_AUTO);
        MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_O), t.x.c.problem.out, &counts, &t.x.err), &t.x);
        ck_assert_msg(counts.at_cap == 0 && counts.no_truth == 0, "%s: %d at the cap", lines[k], (int)counts.at_cap);
        ck_assert_msg(counts.by_tie == counts.open_at_ball, "%s: %d open, %d by the lemma", lines[k],
                      (int)counts.open_at_ball, (int)counts.by_tie);
        ck_assert_int_eq(counts.by_tie + counts.by_enclosure, attest_tensor_count(&out));
        all_open += counts.open_at_ball;
        all_ties += counts.by_tie;
        free(out.data);
        stop(&t);
    }
    printf("flat: %d roundings left open by balls, %d decided by the tie lemma\n", (int)all_open, (int)all_ties);
    ck_assert_int_gt(all_ties, 0);
}
END_TEST

START_TEST(rounding_without_value)
{
    attest_rounding_counts counts = { 0 };
    attest_tensor out;
    truth_case t;
    start(&t, "variant=linear norm=sum n=3 m=2 d=1 e=1 mask=causal-br scale=1", 0, ATTEST_ENGINE_AUTO);
    for (int64_t i = 0; i < 3; i++)
        put(&t, ATTEST_Q, i, 0, 1);
    put(&t, ATTEST_K, 0, 0, 1);
    put(&t, ATTEST_K, 1, 0, -1);
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_O), ATTEST_F16, &counts, &t.x.err), &t.x);
    ck_assert(attest_load_bits(&out, 0) == 0 && attest_load_bits(&out, 1) == 0);
    ck_assert_msg(attest_load_bits(&out, 2) == 0x7e00 && counts.no_truth == 1 && counts.by_enclosure == 2, "0/0");
    free(out.data);
    MUST(attest_truth_rounded(&out, t.truth, ROLE(ATTEST_LSE), ATTEST_BF16, &counts, &t.x.err), &t.x);
    ck_assert_msg(attest_load_bits(&out, 0) == 0xff80 && attest_load_bits(&out, 1) == 0 &&
                      attest_load_bits(&out, 2) == 0x7fc0,
                  "-inf, 0, NaN");
    ck_assert_int_eq(counts.no_truth, 2);
    free(out.data);
    stop(&t);
}
END_TEST

Suite *suite_rounded(void)
{
    Suite *s = suite_create("rounded");
    TCase *t = tcase_create("rounded");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, rounding_holds);
    tcase_add_test(t, ties);
    tcase_add_test(t, nearly_a_tie);
    tcase_add_test(t, tie_of_lse);
    tcase_add_test(t, nearly_a_tie_of_lse);
    tcase_add_test(t, flat_ties);
    tcase_add_test(t, rounding_without_value);
    suite_add_tcase(s, t);
    return s;
}

/* test_ball_state.c - states in the ball engine: against their definition, and given to a problem on later keys. */
#include "tests/reference/ball/ball_case.h"

#include <stdlib.h>

Suite *suite_ball_state(void);

/* The state of the first 4 of 9 keys given to a problem on the other 5: u and z of the last row are those of all
 * 9.  Integers, so that every state is a double. */
static void check_split(const char *variant)
{
    char line[3][160];
    ball_case all, head, tail;
    snprintf(line[0], sizeof line[0], "%s n=1 m=9 b=2 hq=2 d=2 e=3 in=f64 scale=0.5", variant);
    snprintf(line[1], sizeof line[1], "%s n=1 m=4 b=2 hq=2 d=2 e=3 in=f64 scale=0.5", variant);
    snprintf(line[2], sizeof line[2], "%s n=1 m=5 b=2 hq=2 d=2 e=3 in=f64 scale=0.5 state=draw", variant);
    ball_case_start(&all, line[0], 0);
    ball_case_start(&head, line[1], 0);
    ball_case_start(&tail, line[2], 0);
    ball_case_integers(&all);
    for (int t = 0; t < 2 * 2 * 9 * 3; t++) {
        const int64_t b = t / 54, h = t / 27 % 2, j = t / 3 % 9, c = t % 3;
        ball_case *part = j < 4 ? &head : &tail;
        ball_case_put(part, ATTEST_V, b, h, j < 4 ? j : j - 4, c, ball_case_get(&all, ATTEST_V, b, h, j, c));
        if (c < 2)
            ball_case_put(part, ATTEST_K, b, h, j < 4 ? j : j - 4, c, ball_case_get(&all, ATTEST_K, b, h, j, c));
        if (c < 2 && j == 0)
            ball_case_put(&tail, ATTEST_Q, b, h, 0, c, ball_case_get(&all, ATTEST_Q, b, h, 0, c));
    }
    const int64_t b = 1, h = 1;
    for (int n = tail.in.lowest; n <= tail.in.highest; n++) {
        const int64_t rows = attest_state_rows(2, n, 0);
        arb_ptr s = _arb_vec_init(rows * 3);
        for (int z = 0; z < 2; z++) {
            MUST(ref_ball_state(s, NULL, &head.in, b, h, n, z, 128, &head.err), &head);
            for (int64_t r = 0; r < rows * (z ? 1 : 3); r++) {
                ck_assert(arb_is_exact(s + r));
                ball_case_put_id(&tail, (attest_tensor_id){ z ? ATTEST_KIND_Z0 : ATTEST_KIND_H0, (uint32_t)n }, b, h,
                                 z ? r : r / 3, z ? 0 : r % 3, arf_get_d(arb_midref(s + r), ARF_RND_NEAR));
            }
        }
        _arb_vec_clear(s, rows * 3);
    }
    ball_case_row(&all, b, h, 0, 256);
    ball_case_row(&tail, b, h, 0, 256);
    ck_assert_msg(ball_is(tail.row.z, all.row.z, 240), "%s: z of the parts is not z of all", line[2]);
    ck_assert_msg(!arb_is_zero(all.row.z) && !arb_is_zero(all.row.u), "%s: the case shows nothing", line[0]);
    for (int64_t c = 0; c < 3; c++)
        ck_assert_msg(ball_is(tail.row.u + c, all.row.u + c, 240), "%s: u[%d] of the parts", line[2], (int)c);
    ball_case_stop(&all);
    ball_case_stop(&head);
    ball_case_stop(&tail);
}

START_TEST(states)
{
    static const char *const variants[] = { "variant=taylor:3", "variant=term:2",        "variant=quadratic",
                                            "variant=linear",   "variant=relu-taylor:2", "variant=taylor:0",
                                            "variant=term:1" };
    for (size_t t = 0; t < sizeof variants / sizeof variants[0]; t++)
        check_split(variants[t]);
}
END_TEST

/* Row 0 sees no key: its u and z are those of the given state alone, q h0 / 2 and q z0 / 2. */
START_TEST(state_without_keys)
{
    ball_case x;
    ball_case_start(&x, "variant=linear norm=sum n=2 m=1 d=1 e=1 mask=causal-br state=draw scale=0.5", 0);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 3);
    ball_case_put_id(&x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, 5);
    ball_case_put_id(&x, (attest_tensor_id){ ATTEST_KIND_Z0, 1 }, 0, 0, 0, 0, 2);
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert(!x.row.empty && x.row.keys == 0 && ball_is_double(x.row.u, 7.5, 120) && ball_is_double(x.row.z, 3, 120));
    ck_assert_msg(ball_is_double(x.row.o, 2.5, 120) && !x.row.lse_absent, "o of the state alone");
    ball_case_put_id(&x, (attest_tensor_id){ ATTEST_KIND_Z0, 1 }, 0, 0, 0, 0, attest_bits_f64(0x7ff0000000000000u));
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert_msg(x.row.no_truth, "z0 is read");
    ball_case_stop(&x);
}
END_TEST

/* S_2[(a,b),c] = sum k_a k_b v_c, its abs_scale the sum of absolute terms; causal with n < m sees n keys. */
START_TEST(state_by_hand)
{
    ball_case x;
    arb_ptr s = _arb_vec_init(9 * 2);
    mag_ptr abs_scale = calloc(9 * 2, sizeof *abs_scale);
    ball_case_start(&x, "variant=quadratic n=4 m=6 mask=causal d=3 e=2", 0);
    ball_case_integers(&x);
    MUST(ref_ball_state(s, abs_scale, &x.in, 0, 0, 2, 0, 64, &x.err), &x);
    for (int r = 0; r < 18; r++) {
        double sum = 0, size = 0;
        for (int64_t j = 0; j < 4; j++) {
            const double left = ball_case_get(&x, ATTEST_K, 0, 0, j, r / 6);
            const double right = ball_case_get(&x, ATTEST_K, 0, 0, j, r / 2 % 3);
            const double term = left * right * ball_case_get(&x, ATTEST_V, 0, 0, j, r % 2);
            sum += term;
            size += term < 0 ? -term : term;
        }
        ck_assert_msg(arb_is_exact(s + r) && ball_is_double(s + r, sum, 60), "S_2 entry %d is not %g", r, sum);
        ck_assert_msg(ref_mag_upper(abs_scale + r) >= size && ref_mag_upper(abs_scale + r) <= size * 1.0001,
                      "abs_scale %d", r);
    }
    MUST(ref_ball_state(s, NULL, &x.in, 0, 0, 2, 1, 64, &x.err), &x);
    double z = 0;
    for (int64_t j = 0; j < 4; j++)
        z += ball_case_get(&x, ATTEST_K, 0, 0, j, 0) * ball_case_get(&x, ATTEST_K, 0, 0, j, 2);
    ck_assert_msg(ball_is_double(s + 2, z, 60), "z-state entry (0,2) is not %g", z);
    _arb_vec_clear(s, 18);
    for (int r = 0; r < 18; r++)
        mag_clear(abs_scale + r);
    free(abs_scale);
    ball_case_stop(&x);
}
END_TEST

Suite *suite_ball_state(void)
{
    Suite *s = suite_create("ball_state");
    TCase *t = tcase_create("ball_state");
    tcase_add_test(t, states);
    tcase_add_test(t, state_without_keys);
    tcase_add_test(t, state_by_hand);
    suite_add_tcase(s, t);
    return s;
}

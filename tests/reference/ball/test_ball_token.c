/* test_ball_token.c - rope and cosformer in balls: angles by hand, positions under every mask, features behind rope,
 * and random problems beside the witness (ball_witness.h). */
#include "reference/ball/ball.h"
#include "tests/reference/ball/ball_witness.h"

#include <stdio.h>

Suite *suite_ball_token(void);

/* ---- by hand ----------------------------------------------------------------------------------------------------- */
/* d = 4 and base 16: frequencies 1 and 1/4; q = k = one unit vector each, so s = cos of the difference of the angles
 * for one channel, and -+ sin of it for the two channels of a pair. */
START_TEST(rope_by_hand)
{
    static const struct {
        int cq, ck, sine;
        double frequency;
    } table[] = {
        { 0, 0, 0, 1 },  { 2, 2, 0, 1 },    { 1, 1, 0, 0.25 },  { 3, 3, 0, 0.25 }, { 0, 2, 1, 1 },
        { 2, 0, -1, 1 }, { 1, 3, 1, 0.25 }, { 3, 1, -1, 0.25 }, { 0, 1, 2, 0 },    { 2, 3, 2, 0 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        arb_t want;
        arb_init(want);
        ball_case_start(&x, "variant=linear rope=16 n=2 m=5 d=4 e=1 scale=-1 mask=causal-br", 0);
        for (int i = 0; i < 2; i++)
            ball_case_put(&x, ATTEST_Q, 0, 0, i, table[t].cq, 1);
        for (int j = 0; j < 5; j++)
            ball_case_put(&x, ATTEST_K, 0, 0, j, table[t].ck, 1);
        for (int i = 0; i < 2; i++) {
            ball_case_row(&x, 0, 0, i, 128);
            ck_assert_int_eq(x.row.keys, 4 + i); /* the query stands at i + 3 */
            for (int j = 0; j < 4 + i; j++) {
                arb_set_d(want, table[t].frequency * (i + 3 - j)); /* angle of q less angle of k */
                if (table[t].sine == 0)
                    arb_cos(want, want, 256);
                else if (table[t].sine < 2)
                    arb_sin(want, want, 256);
                else
                    arb_zero(want);
                arb_mul_si(want, want, table[t].sine == -1 ? 1 : -1, 256); /* q = (1,0), k = (0,1): sin(a - b) */
                ck_assert_msg(ball_is(x.row.s + j, want, 100), "pair %d %d, query %d key %d", table[t].cq, table[t].ck,
                              i, j);
                ck_assert_msg(ref_mag_upper(x.row.turn + j) >= (table[t].sine == 2 ? 0 : 1) &&
                                  ref_mag_upper(x.row.turn + j) <= (table[t].sine == 2 ? 0 : 1.001),
                              "turn of pair %d %d", table[t].cq, table[t].ck);
            }
        }
        arb_clear(want);
        ball_case_stop(&x);
    }
}
END_TEST

/* max(N,M) = 3: the angle between neighbours is 60/2 = 30 degrees, two apart 60 degrees: cos = 1/2. */
START_TEST(cosformer_by_hand)
{
    ball_case x;
    arb_t want, got;
    arb_init(want);
    arb_init(got);
    ball_case_start(&x, "variant=linear feature=cosformer n=3 m=3 d=2 e=1 scale=1", 0);
    for (int i = 0; i < 3; i++) {
        ball_case_put(&x, ATTEST_Q, 0, 0, i, 0, 3);
        ball_case_put(&x, ATTEST_Q, 0, 0, i, 1, -5); /* relu: 0 */
        ball_case_put(&x, ATTEST_K, 0, 0, i, 0, 2);
        ball_case_put(&x, ATTEST_K, 0, 0, i, 1, 7);
    }
    for (int i = 0; i < 3; i++) {
        ball_case_row(&x, 0, 0, i, 128);
        for (int j = 0; j < 3; j++) {
            arb_set_si(want, 6);
            if (i - j == 2 || j - i == 2)
                arb_set_si(want, 3);
            arb_mul(got, x.row.s + j, x.row.s + j, 128);
            if (i - j == 1 || j - i == 1)
                arb_set_si(want, 27); /* (6 cos 30)^2 */
            ck_assert_msg(ball_is(i - j == 1 || j - i == 1 ? got : x.row.s + j, want, 100), "score %d %d", i, j);
            ck_assert_msg(ref_mag_upper(x.row.turn + j) >= 6 && ref_mag_upper(x.row.turn + j) <= 6.1, "3*2 + 0*7");
        }
    }
    arb_clear(want);
    arb_clear(got);
    ball_case_stop(&x);
}
END_TEST

/* turn with rope: |scale| sum over pairs of (|q_c| + |q_c+2|)(|k_c| + |k_c+2|), before the feature; cosformer alone:
 * after relu. */
START_TEST(turns)
{
    static const struct {
        const char *line;
        double turn;
    } table[] = {
        { "variant=linear rope=16 n=1 d=4 e=1 scale=-2", 2 * (4 * 8 + 6 * 11) },
        { "variant=linear rope=16 feature=cosformer n=1 d=4 e=1 scale=-2", 2 * (4 * 8 + 6 * 11) },
        { "variant=linear feature=cosformer n=1 d=4 e=1 scale=-2", 2 * (1 * 0 + 2 * 2 + 0 * 7 + 4 * 9) },
        { "variant=linear n=1 d=4 e=1 scale=-2", 0 },
    };
    static const double q[] = { 1, 2, -3, 4 }, k[] = { -1, 2, 7, 9 };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        ball_case_start(&x, table[t].line, 0);
        for (int c = 0; c < 4; c++) {
            ball_case_put(&x, ATTEST_Q, 0, 0, 0, c, q[c]);
            ball_case_put(&x, ATTEST_K, 0, 0, 0, c, k[c]);
        }
        ball_case_row(&x, 0, 0, 0, 128);
        const double turn = ref_mag_upper(x.row.turn);
        ck_assert_msg(turn >= table[t].turn && turn <= table[t].turn * 1.001, "%s: turn %g", x.line, turn);
        ball_case_stop(&x);
    }
}
END_TEST

/* Large positions and odd bases: balls stay narrow, nested over precisions, and rope keeps lengths. */
START_TEST(angles)
{
    static const char *const bases[] = { "10000", "1", "0.001", "1e30" };
    for (size_t t = 0; t < sizeof bases / sizeof bases[0]; t++)
        for (int64_t position = 0; position < 1 << 24; position = 3 * position + 1) {
            char line[128];
            ball_case x;
            arb_t a, b;
            arb_ptr y = _arb_vec_init(6), z = _arb_vec_init(6);
            snprintf(line, sizeof line, "variant=linear rope=%s n=1 d=6 e=1", bases[t]);
            ball_case_start(&x, line, 1);
            const attest_tensor *q = attest_bundle_role(x.bundle, ATTEST_Q);
            ck_assert(axis_phi(y, &x.in, q, 0, 1, position, 128) && axis_phi(z, &x.in, q, 0, 1, position, 400));
            arb_init(a);
            arb_init(b);
            for (int c = 0; c < 6; c++) {
                ck_assert_msg(arb_overlaps(y + c, z + c) && mag_cmp_2exp_si(arb_radref(y + c), -100) < 0, "%s at %ld",
                              line, (long)position);
                arb_addmul(a, y + c, y + c, 128);
                arb_set_d(z, ball_case_get(&x, ATTEST_Q, 0, 0, 0, c));
                arb_addmul(b, z, z, 128);
                arb_zero(z);
            }
            ck_assert_msg(arb_overlaps(a, b), "%s at %ld: the length", line, (long)position);
            ck_assert_msg(position == 0 || !arb_is_exact(y), "%s at %ld: turned", line, (long)position);
            arb_clear(a);
            arb_clear(b);
            _arb_vec_clear(y, 6);
            _arb_vec_clear(z, 6);
            ball_case_stop(&x);
        }
}
END_TEST

/* The maps of one number are those of axis/feature.c; behind rope they meet balls that may hold both signs. */
START_TEST(features_of_balls)
{
    static const char *const features[] = { "elu1", "relu", "silu", "unit", "silu-unit", "cosformer" };
    for (size_t t = 0; t < sizeof features / sizeof features[0]; t++) {
        char line[128];
        ball_case x;
        arb_ptr wide = _arb_vec_init(4), map = _arb_vec_init(4), at = _arb_vec_init(4);
        snprintf(line, sizeof line, "variant=linear feature=%s rope=2 n=4 d=2 e=1", features[t]);
        ball_case_start(&x, line, 0);
        const axis_feature *feature = axis_feature_of(&x.c.problem);
        for (int k = 0; k < 60; k++) { /* x in [-0.5, 1.5] beside 4: every point's value lies in the ball's */
            arb_set_d(wide, 0.5);
            arb_set_d(wide + 1, 4);
            mag_set_d(arb_radref(wide), 1.0);
            feature->ball(map, wide, &x.c.problem, 1, 128);
            arb_set_d(wide, -0.5 + k / 30.0);
            feature->ball(at, wide, &x.c.problem, 1, 128);
            for (int c = 0; c < attest_feature_dim(&x.c.problem); c++)
                ck_assert_msg(arb_overlaps(map + c, at + c) && arb_is_finite(map + c), "%s: point %d", features[t], k);
        }
        arb_indeterminate(wide);
        feature->ball(map, wide, &x.c.problem, 1, 128);
        ck_assert_msg(!arb_is_finite(map), "%s of NaN", features[t]);
        _arb_vec_clear(at, 4);
        _arb_vec_clear(map, 4);
        _arb_vec_clear(wide, 4);
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- beside the witness ------------------------------------------------------------------------------------------ */
START_TEST(random_problems)
{
    static const char *const lines[] = {
        "variant=cosformer",
        "variant=cosformer mask=causal-br lens=draw",
        "variant=linear feature=cosformer mask=causal state=draw",
        "variant=softmax feature=cosformer mask=causal window=2",
        "variant=taylor:2 feature=cosformer rope=10 state=draw",
        "variant=softmax rope=10000",
        "variant=softmax rope=10 mask=causal-br lens=draw",
        "variant=taylor:3 rope=0.5 mask=causal",
        "variant=linear rope=100 feature=relu state=draw",
        "variant=retnet rope=10000 state=draw",
        "variant=gla rope=10 state=draw",
        "variant=term:2 rope=7 mask=causal",
    };
    for (size_t t = 0; t < 2 * sizeof lines / sizeof lines[0]; t++) {
        char line[200];
        ball_case x;
        snprintf(line, sizeof line, "%s b=2 hq=4 hkv=2 n=%d%s d=%d e=2 seed=%d", lines[t / 2], t % 2 ? 3 : 4,
                 strstr(lines[t / 2], "variant=gla") || strstr(lines[t / 2], "retnet") ? ""
                 : t % 2                                                               ? " m=5"
                                                                                       : " m=3",
                 t % 2 ? 2 : 4, (int)t);
        ball_case_start(&x, line, 1);
        const attest_problem *p = &x.c.problem;
        ref_ball_cache cache; /* blocks are kept as a truth keeps them, also over two precisions */
        ref_ball_cache_init(&cache);
        x.in.ball = &cache;
        oracle want;
        oracle_init(&want, p, x.bundle, WITNESS_BITS);
        for (int64_t number = 0; number < p->b * p->hq * p->n; number++) {
            check_row(&x, &want, number / p->n / p->hq, number / p->n % p->hq, number % p->n, 128, 100);
            if (number % 5 == 0)
                check_row(&x, &want, number / p->n / p->hq, number / p->n % p->hq, number % p->n, 256, 228);
        }
        oracle_clear(&want);
        ref_ball_cache_clear(&cache);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_ball_token(void)
{
    Suite *s = suite_create("ball_token");
    TCase *t = tcase_create("ball_token");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, rope_by_hand);
    tcase_add_test(t, cosformer_by_hand);
    tcase_add_test(t, turns);
    tcase_add_test(t, angles);
    tcase_add_test(t, features_of_balls);
    tcase_add_test(t, random_problems);
    suite_add_tcase(s, t);
    return s;
}

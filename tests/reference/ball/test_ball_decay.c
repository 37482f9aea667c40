/* test_ball_decay.c - decays, gates=heads and the filter in balls: powers of two by hand, thresholds met exactly, and
 * random problems beside the witness (ball_witness.h), rows and states. */
#include "tests/reference/ball/ball_witness.h"

#include <math.h>
#include <stdio.h>

Suite *suite_ball_decay(void);

#define NEAR(got, want) ((got) >= (want) * (1 - 1e-12) && (got) <= (want)*1.001)

/* ---- by hand ----------------------------------------------------------------------------------------------------- */
/* n = 3 tokens, d = e = 1, q = k = 1, v = 1, 10, 100, a = 1/2, 1/4, 1/8: every number is a binary fraction. */
static void three_tokens(ball_case *x, const char *line)
{
    static const double v[] = { 1, 10, 100 };
    ball_case_start(x, line, 0);
    for (int t = 0; t < 3; t++) {
        ball_case_put(x, ATTEST_Q, 0, 0, t, 0, 1);
        ball_case_put(x, ATTEST_K, 0, 0, t, 0, 1);
        ball_case_put(x, ATTEST_V, 0, 0, t, 0, v[t]);
        if (attest_bundle_role(x->bundle, ATTEST_DECAY))
            ball_case_put(x, ATTEST_DECAY, 0, 0, t, 0, ldexp(0.5, -t));
    }
    if (attest_bundle_role(x->bundle, ATTEST_GAMMA))
        ball_case_put(x, ATTEST_GAMMA, 0, 0, 0, 0, 0.25);
    if (attest_bundle_get(x->bundle, (attest_tensor_id){ ATTEST_KIND_H0, 1 })) {
        ball_case_put_id(x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, 64);
        ball_case_put_id(x, (attest_tensor_id){ ATTEST_KIND_Z0, 1 }, 0, 0, 0, 0, 128);
    }
}

#define THREE "n=3 d=1 e=1 scale=1 "

START_TEST(decays_by_hand)
{
    static const struct {
        const char *line;
        double u, z, decay[3], decay0, h, zt;
    } table[] = {
        { "variant=retnet " THREE, 0.0625 + 2.5 + 100, 1.3125, { 0.0625, 0.25, 1 }, 1, 102.5625, 1.3125 },
        { "variant=simple-gla " THREE, 0.03125 + 1.25 + 100, 1.15625, { 0.03125, 0.125, 1 }, 1, 101.28125, 1.15625 },
        { "variant=gla " THREE, 101.28125, 1.15625, { 1, 1, 1 }, 1, 101.28125, 1.15625 },
        { "variant=retnet state=draw " THREE, 103.5625, 3.3125, { 0.0625, 0.25, 1 }, 0.015625, 103.5625, 3.3125 },
        { "variant=simple-gla state=draw " THREE,
          102.28125,
          3.15625,
          { 0.03125, 0.125, 1 },
          0.015625,
          102.28125,
          3.15625 },
        { "variant=gla state=draw " THREE, 102.28125, 3.15625, { 1, 1, 1 }, 0.015625, 102.28125, 3.15625 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        arb_t state[2];
        mag_t abs_scale;
        three_tokens(&x, table[t].line);
        ball_case_row(&x, 0, 0, 2, 128);
        ck_assert_msg(arb_is_exact(x.row.u) && ball_is_double(x.row.u, table[t].u, 100), "%s: u", x.line);
        ck_assert_msg(arb_is_exact(x.row.z) && ball_is_double(x.row.z, table[t].z, 100), "%s: z", x.line);
        ck_assert_msg(NEAR(ref_mag_upper(x.row.decay0), table[t].decay0), "%s: decay0", x.line);
        for (int j = 0; j < 3; j++) { /* decay=vector: inside the score and its mass */
            const double inside = x.c.problem.axis[ATTEST_AXIS_DECAY].value == ATTEST_DECAY_VECTOR ? 0.03125 : 1;
            const double mass = j == 0 ? inside : j == 1 && inside < 1 ? 0.125 : 1;
            ck_assert_msg(NEAR(ref_mag_upper(x.row.decay + j), table[t].decay[j]), "%s: decay %d", x.line, j);
            ck_assert_msg(NEAR(ref_mag_upper(x.row.mass + j), mass) && ball_is_double(x.row.s + j, mass, 100),
                          "%s: mass %d", x.line, j);
        }
        mag_init(abs_scale);
        MUST(ref_abs_scale_row(abs_scale, &x.row, &x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, 2 }, &x.err), &x);
        ck_assert_msg(NEAR(ref_mag_upper(abs_scale), table[t].u), "%s: abs_scale %g", x.line, ref_mag_upper(abs_scale));
        for (int z = 0; z < 2; z++) {
            arb_init(state[z]);
            MUST(ref_ball_state(state[z], abs_scale, &x.in, 0, 0, 1, z, 128, &x.err), &x);
            ck_assert_msg(ball_is_double(state[z], z ? table[t].zt : table[t].h, 100), "%s: state %d", x.line, z);
            ck_assert_msg(NEAR(ref_mag_upper(abs_scale), z ? table[t].zt : table[t].h), "%s: its abs_scale", x.line);
            arb_clear(state[z]);
        }
        mag_clear(abs_scale);
        ball_case_stop(&x);
    }
}
END_TEST

/* fox: keys of score 0 count D_ij, lse is the logarithm of their sum; with lens the last key is not the last token. */
START_TEST(softmax_decays)
{
    ball_case x;
    arb_t lse;
    arb_init(lse);
    ball_case_start(&x, "variant=fox lens=draw n=3 d=1 e=1", 0);
    for (int t = 0; t < 3; t++)
        ball_case_put(&x, ATTEST_DECAY, 0, 0, t, 0, ldexp(0.5, -t));
    attest_store_bits(attest_bundle_role(x.bundle, ATTEST_KV_LENS), 0, 2);
    ball_case_row(&x, 0, 0, 2, 128);
    ck_assert_int_eq(x.row.keys, 2);
    ck_assert(ball_is_double(x.row.w, 0.03125, 100) && ball_is_double(x.row.w + 1, 0.125, 100));
    arb_set_d(lse, 0.15625);
    arb_log(lse, lse, 256);
    ck_assert(ball_is(x.row.lse, lse, 100));
    ball_case_stop(&x);
    arb_clear(lse);
}
END_TEST

/* Equal scores of the heads: 1/H, however large the scores; a head that is far below the others counts 0. */
START_TEST(heads_by_hand)
{
    static const double level[] = { 0, -3, 1e308 };
    for (int t = 0; t < 3; t++) {
        ball_case x;
        ball_case_start(&x, "variant=softmax gates=heads n=2 hq=6 hkv=3 d=1 e=1 acc=f64", 0);
        for (int h = 0; h < 6; h++)
            for (int i = 0; i < 2; i++)
                ball_case_put(&x, ATTEST_Q_HEAD_LOGITS, 0, h, i, 0, level[t]);
        for (int g = 0; g < 3; g++)
            for (int j = 0; j < 2; j++)
                ball_case_put(&x, ATTEST_K_HEAD_LOGITS, 0, g, j, 0, j == 1 && g == 2 ? -1e308 : level[t]);
        for (int h = 0; h < 6; h += 5) {
            ball_case_row(&x, 0, h, 1, 128);
            arb_mul_ui(x.row.gout, x.row.gout, 6, 128);
            arb_mul_ui(x.row.gin, x.row.gin, 3, 128);
            arb_mul_ui(x.row.gin + 1, x.row.gin + 1, 2, 128);
            ck_assert_msg(ball_is_double(x.row.gout, 1, 100) && ball_is_double(x.row.gin, 1, 100), "level %d", t);
            mag_t size;
            mag_init(size);
            arb_get_mag(size, x.row.gin + 1);
            ck_assert_msg(h == 5 ? mag_cmp_2exp_si(size, -100) < 0 : ball_is_double(x.row.gin + 1, 1, 100),
                          "level %d head %d", t, h);
            mag_clear(size);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* Scores 0, 1, 3, 3.5: a key exactly at max - TAU is dropped; `kept` tells its weight all the same. */
START_TEST(filter_by_hand)
{
    static const double score[] = { 0, 1, 3, 3.5 };
    static const struct {
        const char *tau;
        int kept;
    } table[] = {
        { "2.5", 2 }, { "2.5000002384185791015625", 3 }, { "3.5", 3 }, { "4", 4 }, { "0.5", 1 }, { "1e-300", 1 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        char line[128];
        ball_case x;
        snprintf(line, sizeof line, "variant=linear norm=sum filter=%s n=1 m=4 d=1 e=1 scale=1", table[t].tau);
        ball_case_start(&x, line, 0);
        ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 1);
        for (int j = 0; j < 4; j++) {
            ball_case_put(&x, ATTEST_K, 0, 0, j, 0, score[3 - j]);
            ball_case_put(&x, ATTEST_V, 0, 0, j, 0, 1);
        }
        ball_case_row(&x, 0, 0, 0, t == 5 ? 2048 : 128);
        double z = 0;
        for (int j = 0; j < 4; j++) {
            const double w = j < table[t].kept ? score[3 - j] : 0;
            z += w;
            ck_assert_msg(arb_is_exact(x.row.w + j) && ball_is_double(x.row.w + j, w, 50), "%s: key %d", line, j);
            ck_assert_msg(NEAR(ref_mag_upper(x.row.kept + j), score[3 - j]), "%s: kept %d", line, j);
        }
        ck_assert_msg(ball_is_double(x.row.z, z, 50) && ball_is_double(x.row.o, 1, 50), "%s: sums", line);
        if (t == 5) { /* at few bits max - TAU is not decided: every weight near it holds 0 and W */
            ball_case_row(&x, 0, 0, 0, 64);
            ck_assert_msg(arb_contains_zero(x.row.w) && arb_contains_si(x.row.w + 1, 0), "%s: open", line);
            arb_set_d(x.row.s, 3.5);
            ck_assert_msg(arb_contains(x.row.w, x.row.s), "%s: open", line);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* ---- beside the witness ------------------------------------------------------------------------------------------ */
static void check_line(const char *line)
{
    char why[160];
    ball_case x;
    oracle want;
    ball_case_start(&x, line, 1);
    const attest_problem *p = &x.c.problem;
    oracle_init(&want, p, x.bundle, WITNESS_BITS);
    for (int64_t number = 0; number < p->b * p->hq * p->n; number++)
        check_row(&x, &want, number / p->n / p->hq, number / p->n % p->hq, number % p->n, 128, 100);
    for (int n = 2 * x.in.lowest; n <= 2 * x.in.highest + 1; n++) {
        const attest_tensor_id id = { n % 2 ? ATTEST_KIND_ZT : ATTEST_KIND_HT, (uint32_t)n / 2 };
        if (attest_problem_has(p, id, why, sizeof why))
            for (int64_t head = 0; head < p->b * p->hkv; head++)
                check_state(&x, &want, id, head / p->hkv, head % p->hkv);
    }
    oracle_clear(&want);
    ball_case_stop(&x);
}

START_TEST(random_problems)
{
    static const char *const lines[] = {
        "variant=fox",
        "variant=fox lens=draw window=3",
        "variant=softmax decay=retnet mask=causal-br lens=draw",
        "variant=retnet state=draw",
        "variant=simple-gla gates=inout state=draw lens=draw",
        "variant=gla state=draw",
        "variant=gla weight=term:1 feature=relu lens=draw mask=causal-br",
        "variant=taylor:2 decay=scalar mask=causal state=draw",
        "variant=taylor:3 decay=retnet mask=causal gates=in",
        "variant=sla",
        "variant=sla mask=full",
        "variant=sla-retnet",
        "variant=sla-gla state=draw",
        "variant=retnet rope=10 state=draw",
        "variant=linear feature=cosformer mask=causal",
        "variant=softmax gates=heads",
        "variant=filtered:0.5",
        "variant=filtered:0.125 mask=causal",
        "variant=softmax filter=0.25 mask=causal decay=scalar",
        "variant=linear norm=sum filter=1 gates=in",
    };
    for (size_t t = 0; t < 2 * sizeof lines / sizeof lines[0]; t++) {
        char line[200];
        snprintf(line, sizeof line, "%s b=2 hq=4 hkv=%d n=%d d=%d e=2 seed=%d", lines[t / 2], t % 2 ? 1 : 2,
                 t % 2 ? 3 : 5,
                 strstr(lines[t / 2], "rope") ? 2
                 : t % 2                      ? 1
                                              : 3,
                 (int)t);
        check_line(line);
    }
}
END_TEST

/* ---- what a row reads -------------------------------------------------------------------------------------------- */
START_TEST(reads)
{
    static const struct {
        const char *line;
        attest_role role;
        int at, row, read;
    } table[] = {
        { "variant=simple-gla", ATTEST_DECAY, 0, 2, 0 },
        { "variant=simple-gla state=draw", ATTEST_DECAY, 0, 2, 1 },
        { "variant=simple-gla", ATTEST_DECAY, 1, 2, 1 },
        { "variant=simple-gla", ATTEST_DECAY, 3, 2, 0 },
        { "variant=gla", ATTEST_DECAY, 0, 2, 0 },
        { "variant=gla state=draw", ATTEST_DECAY, 0, 2, 1 },
        { "variant=gla", ATTEST_DECAY, 2, 2, 1 },
        { "variant=gla", ATTEST_DECAY, 3, 2, 0 },
        { "variant=fox window=2", ATTEST_DECAY, 1, 2, 0 },
        { "variant=fox window=2", ATTEST_DECAY, 2, 2, 1 },
        { "variant=retnet", ATTEST_GAMMA, 0, 0, 0 },
        { "variant=retnet", ATTEST_GAMMA, 0, 1, 1 },
        { "variant=retnet state=draw", ATTEST_GAMMA, 0, 0, 1 },
        { "variant=sla", ATTEST_K_HEAD_LOGITS, 2, 2, 1 },
        { "variant=sla", ATTEST_K_HEAD_LOGITS, 3, 2, 0 },
        { "variant=sla", ATTEST_Q_HEAD_LOGITS, 2, 2, 1 },
        { "variant=sla", ATTEST_Q_HEAD_LOGITS, 1, 2, 0 },
        { "variant=deltanet", ATTEST_BETA, 2, 2, 1 },
        { "variant=deltanet", ATTEST_BETA, 3, 2, 0 },
        { "variant=gdn", ATTEST_DECAY, 0, 2, 0 },
        { "variant=gdn state=draw", ATTEST_DECAY, 0, 2, 1 },
        { "variant=gdn", ATTEST_DECAY, 1, 2, 1 },
        { "variant=gdn", ATTEST_DECAY, 3, 2, 0 },
        { "variant=efla", ATTEST_K, 0, 2, 1 },
        { "variant=efla", ATTEST_V, 3, 2, 0 },
        { "variant=sla-deltanet", ATTEST_K_HEAD_LOGITS, 1, 2, 1 },
        { "variant=sla-deltanet", ATTEST_K_HEAD_LOGITS, 3, 2, 0 },
    };
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (size_t t = 0; t < 3 * sizeof table / sizeof table[0]; t++) {
        const size_t n = t / 3;
        char line[128];
        ball_case x;
        snprintf(line, sizeof line, "%s hq=4 hkv=2 n=4 d=2 e=1", table[n].line);
        ball_case_start(&x, line, 1);
        ref_row clean;
        ref_row_init(&clean);
        MUST(ref_ball_row(&clean, &x.in, (attest_row){ 0, 0, table[n].row }, 128, &x.err), &x);
        if (table[n].role == ATTEST_GAMMA)
            ball_case_put(&x, ATTEST_GAMMA, 0, 0, 0, 0, bad[t % 3]);
        else /* of the other head where the softmax is over heads */
            ball_case_put(&x, table[n].role, 0,
                          table[n].role == ATTEST_K_HEAD_LOGITS || table[n].role == ATTEST_Q_HEAD_LOGITS, table[n].at,
                          0, bad[t % 3]);
        ball_case_row(&x, 0, 0, table[n].row, 128);
        ck_assert_msg(x.row.no_truth == table[n].read, "%s: %s[%d] and row %d", line, attest_roles[table[n].role].name,
                      table[n].at, table[n].row);
        ck_assert_msg(table[n].read || arb_equal(x.row.o, clean.o), "%s: o moves", line);
        ref_row_clear(&clean);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_ball_decay(void)
{
    Suite *s = suite_create("ball_decay");
    TCase *t = tcase_create("ball_decay");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, decays_by_hand);
    tcase_add_test(t, softmax_decays);
    tcase_add_test(t, heads_by_hand);
    tcase_add_test(t, filter_by_hand);
    tcase_add_test(t, random_problems);
    tcase_add_test(t, reads);
    suite_add_tcase(s, t);
    return s;
}

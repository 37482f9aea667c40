/* test_bound_steps.c - what cap, alibi, clamp, filter, decay, gates, rotations, norms and the delta rule add to a
 * bound, against the formulas of derivations.md in plain doubles. */
#include "reference/bound/bound_row.h"
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_steps(void);

#define DECLARED .log2_domain = ATTEST_NO, .scale_dtype = 1
static const attest_numerics pass = { .schedule = ATTEST_SCHEDULE_TWO_PASS, DECLARED };
static const attest_numerics direct = { .schedule = ATTEST_SCHEDULE_DIRECT, .decay_products = ATTEST_YES, DECLARED };

#define THREE " n=1 m=3 d=2 e=1 scale=0.5"
#define ROWS " n=3 m=3 d=2 e=1 scale=0.5"

/* Row 2 of three tokens: the same keys, q = (3, -1) as query 2. */
static void last_row(row_case *r, const char *line, const attest_numerics *n, double slope, double gate)
{
    row_open(r, line, 0, key[0][0]);
    for (int c = 0; c < 2; c++) {
        ball_case_put(&r->x, ATTEST_Q, 0, 0, 2, c, c ? -1 : 3);
        for (int j = 0; j < 3; j++)
            ball_case_put(&r->x, ATTEST_K, 0, 0, j, c, key[j][c]);
    }
    for (int j = 0; j < 3; j++)
        ball_case_put(&r->x, ATTEST_V, 0, 0, j, 0, j == 1 ? -2 : 1);
    if (r->x.in.role[ATTEST_GAMMA])
        ball_case_put(&r->x, ATTEST_GAMMA, 0, 0, 0, 0, slope);
    for (int t = 0; t < 3 && r->x.in.role[ATTEST_DECAY]; t++)
        for (int c = 0; c < r->x.in.role[ATTEST_DECAY]->shape[3]; c++)
            ball_case_put(&r->x, ATTEST_DECAY, 0, 0, t, c, slope);
    for (int t = 0; t < 3 && r->x.in.role[ATTEST_BETA]; t++)
        ball_case_put(&r->x, ATTEST_BETA, 0, 0, t, 0, gate);
    ball_case_row(&r->x, 0, 0, 2, 128);
    bound_model_init(&r->m);
    bound_model_set(&r->m, &r->x.in, n, 0);
    MUST(bound_weights_init(&r->w, r->x.row.keys, &r->x.err), &r->x);
}

#define TWICE .schedule = ATTEST_SCHEDULE_TWO_PASS, DECLARED

START_TEST(steps_of_a_score)
{
    static const struct {
        const char *line;
        attest_numerics n;
        double cap, division, relative, absolute; /* of s/cap; of tanh, of min(|s|, cap) and of cap */
    } caps[] = {
        { "cap=8" THREE, { TWICE }, 8, 5 * U, 0, 2 * (9 + 5) * U + 11 * U },
        { "cap=8" THREE, { TWICE, .exp_error = U, .div_error = U }, 8, U, 0, 2 * (1 + 1) * U + 11 * U },
        { "cap=8" THREE, { TWICE, .tanh_error = 5 * U }, 8, 5 * U, (5 + 2) * U, 0 },
        { "cap=8" THREE, { TWICE, .tanh_error = 0x1p-11 }, 8, 5 * U, 0x1p-11 * (1 + 2 * U) + 2 * U, 0 },
        { "cap=2" THREE, { TWICE, .tanh_error = 5 * U }, 2, 5 * U, (5 + 2) * U, 0 },
    };
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    row_case r;
    for (size_t k = 0; k < sizeof caps / sizeof caps[0]; k++) {
        row_start(&r, caps[k].line, &caps[k].n, 0, 1);
        for (int j = 0; j < 3; j++) {
            const double size = mass[j] * (1 + s), cap = caps[k].cap;
            within(caps[k].line, "delta", r.w.delta + j,
                   s * mass[j] + both(caps[k].division, U) * fmin(size, 15.0 / 32 * cap) +
                       caps[k].relative * fmin(size, cap) + caps[k].absolute * cap,
                   2e-6); /* to first order in u */
        }
        row_stop(&r);
    }
    row_start(&r, "clamp=0.3" THREE, &pass, 0, 1); /* no float */
    is("clamp", "delta", r.w.delta + 1, s * mass[1] + gamma_of(2, U) * 0.3);
    row_stop(&r);
    row_start(&r, "clamp=0.25" THREE, &pass, 0, 1);
    is("clamp", "delta", r.w.delta + 1, s * mass[1]);
    row_stop(&r);
    row_open(&r, "alibi=draw" THREE, 3, 1);
    ball_case_put(&r.x, ATTEST_SLOPE, 0, 0, 0, 0, 0.75);
    row_ready(&r, &pass, 0, 1);
    const double d = gamma_of(3, U) * 1.5;
    is("alibi", "delta", r.w.delta + 2, d + U * (1.5 + d)); /* key 2 is 0: the bias alone */
    row_stop(&r);
    row_open(&r, "alibi=usual" THREE, 3, 1);
    row_ready(&r, &pass, 0, 1);
    const double slope = 0x1p-8, own = both(gamma_of(3, U), gamma_of(10 * 1 + 26, U)) * 2 * slope; /* of one head */
    is("alibi=usual", "delta", r.w.delta + 2, own + U * (2 * slope + own));
    row_stop(&r);
}
END_TEST

/* The same where a kernel may round: base 2 is not excluded. */
static const attest_numerics rounding = { .schedule = ATTEST_SCHEDULE_DIRECT, .scale_dtype = 1 };

/* Scores 0.5, -3.25, -1.625: above, below and on the threshold. */
START_TEST(filter_has_three_answers)
{
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    row_case r;
    row_start(&r, "variant=filtered:2.125" THREE, &rounding, 0, 1);
    const double kept = fabs(1 + -1.625 - 0.5), delta = s * mass[2], dmax = s * mass[1];
    ck_assert(r.w.choice[0] == BOUND_KEPT && r.w.choice[1] == BOUND_DROPPED && r.w.choice[2] == BOUND_OPEN);
    is("filter", "dropped", r.w.set[BOUND_SCORE] + 1, 0);
    is("filter", "open", r.w.set[BOUND_SCORE] + 2, kept + delta);
    is("filter", "center", r.w.center, dmax);
    row_stop(&r);
    row_start(&r, "variant=filtered:2.1250026" THREE, &direct, 0, 1); /* 2.6e-6 away; the errors are 2.3e-6 */
    ck_assert(r.w.choice[2] == BOUND_KEPT);
    row_stop(&r);
    row_start(&r, "variant=filtered:2.1250020" THREE, &direct, 0, 1);
    ck_assert(r.w.choice[2] == BOUND_OPEN);
    row_stop(&r);
}
END_TEST

/* R-FILTER-EXACT: q on 1, k on 1/4, scale 1/2, TAU on 1/8: no kernel rounds, and a key on the threshold is dropped. */
START_TEST(filter_of_exact_scores)
{
    static const struct {
        const char *line;
        double far; /* the least score is about 3/2 of that lower */
        int undeclared, choice;
    } cases[] = {
        { "variant=filtered:2.125" THREE, 0, 0, BOUND_DROPPED },
        { "variant=filtered:2.25" THREE, 0, 0, BOUND_KEPT },
        { "variant=filtered:2.125" THREE, 0x1p18, 0, BOUND_DROPPED }, /* 3 2^18 + .. <= 2^24/8 */
        { "variant=filtered:2.125" THREE, 0x1p20, 0, BOUND_OPEN },
        { "variant=filtered:2.125" THREE, 0, 1, BOUND_OPEN }, /* a root of the scale on both sides */
        { "variant=filtered:4.25 n=1 m=3 d=2 e=1 scale=1", 0, 1, BOUND_DROPPED },
        { "variant=filtered:12.75 n=1 m=3 d=2 e=1 scale=3", 0, 0, BOUND_OPEN }, /* 3 is no power of 2 */
        { "variant=filtered:2.125 clamp=9" THREE, 0, 0, BOUND_OPEN },
    };
    const attest_numerics undeclared = { .schedule = ATTEST_SCHEDULE_DIRECT, .log2_domain = ATTEST_NO };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const attest_numerics *n = cases[k].undeclared ? &undeclared : &direct;
        row_case r;
        row_start(&r, cases[k].line, n, 0, 1);
        if (cases[k].far > 0) {
            ball_case_put(&r.x, ATTEST_K, 0, 0, 1, 0, -cases[k].far);
            bound_weights_clear(&r.w);
            bound_model_clear(&r.m);
            row_ready(&r, n, 0, 1);
        }
        ck_assert_msg(r.w.choice[2] == cases[k].choice, "case %zu: %d", k, r.w.choice[2]);
        row_stop(&r);
    }
}
END_TEST

START_TEST(decay_of_weights)
{
    const double s = both(gamma_of(2, U), gamma_of(1, U));
    row_case r;
    last_row(&r, "variant=retnet" ROWS, &direct, 0.5, 0);
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    for (int j = 0; j < 3; j++) {
        const double n = 2 - j, d = ldexp(1, j - 2), a = s * mass[j] * d, w = fabs(score[j]) * d;
        is("retnet", "score part", r.w.set[BOUND_SCORE] + j, a);
        if (n > 0)
            is("retnet", "decay part", r.w.set[BOUND_EXP] + j, gamma_of(2 * n + 9, U) * (w + a));
        else
            ck_assert_msg(value_of(r.w.set[BOUND_EXP] + j) < 1e-40, "no decay, no error");
    }
    row_stop(&r);
    last_row(&r, "variant=gla" ROWS, &direct, 0.5, 0); /* inside the product */
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    for (int j = 0; j < 3; j++) {
        const double n = 2 - j, theta = n > 0 ? gamma_of(2 * n + 9, U) : 0;
        is("gla", "delta", r.w.delta + j, both(s, theta) * mass[j] * ldexp(1, j - 2));
    }
    row_stop(&r);
    last_row(&r, "variant=simple-gla" ROWS, &direct, 4, 0); /* growing: what underflows is multiplied */
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    is("simple-gla", "most", r.w.decay_most, 16);
    is("simple-gla", "logs", r.w.decay_log, 0);
    row_stop(&r);
    const attest_numerics any = { 0 };
    last_row(&r, "variant=simple-gla" ROWS, &any, 0.5, 0);
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    is("simple-gla", "logs", r.w.decay_log, 2 * both(gamma_of(14, U), 9 * U) * 3 * log(2));
    row_stop(&r);
    last_row(&r, "variant=simple-gla chunk=2" ROWS, &any, -0.5, 0);
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    is("simple-gla", "no logarithm", r.w.decay_log, 0);
    ck_assert_int_eq(bound_decay_steps(&r.m, 2), 2 * 2 + 9 + 10 * 2);
    row_stop(&r);
}
END_TEST

START_TEST(gates_of_heads)
{
    mag_t theta, tiny;
    row_case r;
    mag_init(theta);
    mag_init(tiny);
    last_row(&r, "variant=sla hq=2 n=3 m=3 d=2 e=1 scale=0.5", &direct, 0, 0);
    ball_case_put(&r.x, ATTEST_K_HEAD_LOGITS, 0, 1, 2, 0, -3);
    ball_case_put(&r.x, ATTEST_Q_HEAD_LOGITS, 0, 0, 2, 0, 5);
    for (int rows = 0; rows < 2; rows++) {
        const double e = both(expm1(2 * gamma_of(1, U) * (rows ? 5 : 3)), 9 * U);
        const double want = both(U, both(both(both(e, e / (1 - e)), gamma_of(3, U)), 5 * U));
        if (rows)
            bound_row_gate(theta, tiny, &r.m, &r.x.in, 0, 2);
        else
            bound_value_gate(theta, &r.m, &r.x.in, 0, 0, 3);
        within("heads", rows ? "row" : "value", theta, want, 1e-4);
    }
    is("heads", "underflow", tiny, 4 * LEAST);
    row_stop(&r);
    last_row(&r, "variant=linear gates=in" ROWS, &direct, 0, 0);
    bound_weights_set(&r.w, &r.m, &r.x.row, &r.x.in, (attest_row){ 0, 0, 2 }, 0);
    is("in", "gamma_sum", r.w.gamma_sum, both(both(gamma_of(4, U), 5 * U), U));
    bound_row_gate(theta, tiny, &r.m, &r.x.in, 0, 2);
    is("in", "row", theta, 0);
    row_stop(&r);
    mag_clear(tiny);
    mag_clear(theta);
}
END_TEST

static double rho_of(double position, double slope, double lipschitz, double f)
{
    const double rho = both(position * slope + 9 * U, gamma_of(2, U)) * lipschitz;
    return rho * (1 + both(both(f, f), U));
}

START_TEST(rotations)
{
    const double f = 0.25, slope = 1.03125 * gamma_of(12, U) * (f + f * 0.5 * log(16));
    const double wave = both(gamma_of(4, U) * 1.5708 + 9 * U, U);
    static const struct {
        const char *line;
        double lipschitz, f;
    } table[] = { { "rope=16 n=1 m=3 d=4 e=1", 1, 0 },
                  { "variant=taylor:1 feature=silu rope=16 n=1 m=3 d=4 e=1", 1.125, -1 },
                  { "variant=cosformer n=1 m=3 d=4 e=1", 0, 0 } };
    mag_t rho, y, turn;
    bound_turned q, k;
    mag_init(rho);
    mag_init(y);
    mag_init(turn);
    bound_turned_init(&q);
    bound_turned_init(&k);
    for (int t = 0; t < 3; t++) {
        row_case r;
        row_open(&r, table[t].line, 3, 1);
        row_ready(&r, t ? &direct : &pass, 0, 1);
        const double feature = table[t].f < 0 ? both(both(gamma_of(2, U), 9 * U), 5 * U) : 0;
        for (int position = 0; position < 3; position++) {
            bound_turn(rho, &r.m, position);
            is(table[t].line, "rho", rho, t == 2 ? wave : rho_of(position, slope, table[t].lipschitz, feature));
        }
        mag_set_d(q.rho, 0.5);
        mag_set_d(k.rho, 0.25);
        mag_set_d(turn, 3);
        bound_turned_score(y, &r.m, &q, &k, turn);
        is(table[t].line, "score", y, 3 * (1.41425 * 0.75 + 2 * 0.125));
        row_stop(&r);
    }
    bound_turned_clear(&k);
    bound_turned_clear(&q);
    mag_clear(turn);
    mag_clear(y);
    mag_clear(rho);
}
END_TEST

/* |x| = 5; silu(x) shorter; squares that underflow. */
START_TEST(vectors_of_length_one)
{
    mag_t sigma, rho;
    row_case r;
    mag_init(sigma);
    mag_init(rho);
    row_open(&r, "variant=cos-taylor:1 rope=16 n=1 m=1 d=2 e=1", 3, 1);
    ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 1, 4);
    row_ready(&r, &direct, 0, 1);
    is("unit", "F", r.m.feature, both(both(gamma_of(6, U), 5 * U), 5 * U));
    bound_turn(rho, &r.m, 7);
    ck_assert(bound_unit(sigma, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 7));
    const double eta = 2 * value_of(rho);
    is("unit", "sigma", sigma, eta + eta * eta);
    ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 0, 0x1p-60);
    ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 1, 0);
    ck_assert_msg(!bound_unit(sigma, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 7), "squares underflow");
    ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 0, 0);
    ck_assert_msg(bound_unit(sigma, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 7), "the vector 0 is exact");
    row_stop(&r);
    row_open(&r, "variant=taylor:1 feature=silu-unit rope=16 n=1 m=1 d=2 e=1", -2, 1);
    row_ready(&r, &direct, 0, 1);
    bound_turn(rho, &r.m, 0);
    ck_assert(bound_unit(sigma, &r.m, &r.x.in, ATTEST_Q, 0, 0, 0, 0));
    const double far = 2 * value_of(rho) * 2 / (2 / (1 + exp(2)));
    within("silu-unit", "sigma", sigma, far + far * far, 1e-6);
    row_stop(&r);
    mag_clear(rho);
    mag_clear(sigma);
}
END_TEST

/* One channel: y = 1 or -1, and the errors of u come twice; over three keys; below a floor. */
START_TEST(norms_of_a_row)
{
    static const struct {
        const char *line;
        double over, twice; /* terms of u over this; times */
        int root;
    } table[] = { { "norm=none gates=out" THREE, 1, 1, 0 },
                  { "norm=length" THREE, 3, 1, 0 },
                  { "norm=floor:64" THREE, 64, 1, 0 },
                  { "norm=l2" THREE, 0, 2, 1 },
                  { "norm=length-l2" THREE, 0, 2, 1 } };
    for (size_t k = 0; k < sizeof table / sizeof table[0]; k++) {
        ref_bound u, o;
        row_case r;
        ref_bound_init(&u);
        ref_bound_init(&o);
        row_start(&r, table[k].line, &direct, 0, 0);
        const double gate = r.m.gates_rows ? 0.5 : 1;
        if (r.m.gates_rows) {
            ball_case_put(&r.x, ATTEST_GOUT, 0, 0, 0, 0, 0.5);
            ball_case_row(&r.x, 0, 0, 0, 128);
        }
        MUST(ref_bound_row(&u, &r.x.row, &r.x.in, &direct, 0, ROLE(ATTEST_U), ATTEST_F32, (attest_row){ 0, 0, 0 },
                           &r.x.err),
             &r.x);
        MUST(ref_bound_row(&o, &r.x.row, &r.x.in, &direct, 0, ROLE(ATTEST_O), ATTEST_F32, (attest_row){ 0, 0, 0 },
                           &r.x.err),
             &r.x);
        const double size = fabs(arf_get_d(arb_midref(r.x.row.u), ARF_RND_NEAR));
        double d[ATTEST_TERM_COUNT], sum = 0;
        for (int t = 0; t < ATTEST_TERM_COUNT; t++)
            sum += d[t] = value_of(u.term[t]);
        const double over = table[k].root ? size - sum : table[k].over;
        for (int t = 0; t < ATTEST_TERM_DIVISION; t++)
            if (d[t] > 1e-100)
                within(table[k].line, "term", o.term[t], gate * table[k].twice * d[t] / over, 1e-5);
        const double y = table[k].root ? 1 + 2 * sum / over : (size + sum) / over;
        const double g = gamma_of(2, U), root = both(both(both(g / (1 - g) / 2, gamma_of(4, U)), 5 * U), 5 * U);
        const double plain = table[k].over == 3 ? both(5 * U, U) : table[k].over == 64 ? 5 * U : 0;
        const double last = table[k].root ? root : plain;
        const double length = k == 4 ? 2 * both(5 * U, U) : 0; /* one division before */
        const double want = gate * y * (r.m.gates_rows ? U : last + length);
        within(table[k].line, "division", o.term[ATTEST_TERM_DIVISION], want, 1e-4);
        ref_bound_clear(&o);
        ref_bound_clear(&u);
        row_stop(&r);
    }
}
END_TEST

/* Tokens (k,v,b) = (2,3,1/2), (1,1,1), d = e = 1, by hand from R-DELTA to first order in u; exact features, f = 0.
 * Token 0: S' = 0, w = b v = 3/2, S = 3.   l = b 4u v + 4u w = 12u,
 *     E = k l + 2u k w + u k w = 24u + 6u + 3u = 33u
 * Token 1: S' = 3, E' = 33u, w = 1 - 3 = -2.   l = 7u k S' + 4u v + 4u |w| = 21u + 4u + 8u = 33u,
 *     E = max(1, |1 - b k k|) E' + k l + 2u k |w| + u (S' + k |w|) = 33u + 33u + 4u + 5u = 75u */
START_TEST(delta_state_by_hand)
{
    static const attest_numerics kept = { .schedule = ATTEST_SCHEDULE_RECURRENT, .scale_dtype = 1, .div_error = U };
    static const double token[2][3] = { { 2, 3, 0.5 }, { 1, 1, 1 } }, want[2] = { 33 * U, 75 * U };
    static const attest_role role[3] = { ATTEST_K, ATTEST_V, ATTEST_BETA };
    mag_t error;
    mag_init(error);
    for (int i = 0; i < 2; i++) {
        row_case r;
        row_open(&r, "variant=deltanet n=2 m=2 d=1 e=1 scale=1", 1, 0);
        for (int t = 0; t < 2; t++)
            for (int c = 0; c < 3; c++)
                ball_case_put(&r.x, role[c], 0, 0, t, 0, token[t][c]);
        ball_case_row(&r.x, 0, 0, i, 128);
        bound_model_init(&r.m);
        ck_assert(bound_model_set(&r.m, &r.x.in, &kept, 0));
        MUST(bound_weights_init(&r.w, r.x.row.keys, &r.x.err), &r.x);
        ck_assert(bound_delta_state(error, &r.m, &r.x.row, &r.x.in, 0, 0));
        within("deltanet", i ? "two tokens" : "one token", error, want[i], 64 * U); /* the terms in u^2 */
        row_stop(&r);
        mag_zero(error);
    }
    mag_clear(error);
}
END_TEST

/* Three tokens, b = 0.5, no features: the recurrence of R-DELTA again, in plain doubles. */
START_TEST(delta_state)
{
    static const attest_numerics kept = { .schedule = ATTEST_SCHEDULE_RECURRENT, .scale_dtype = 1, .div_error = U };
    row_case r;
    mag_t error;
    mag_init(error);
    last_row(&r, "variant=deltanet" ROWS, &kept, 1, 0.5);
    double e = 0;
    for (int t = 0; t < 3; t++) {
        const ref_delta *d = &r.x.row.delta;
        const double k = value_of(d->key + t), v = value_of(d->value + t), size = value_of(d->size + t),
                     b = value_of(d->rate + t), g4 = gamma_of(4, U);
        const double write = value_of(d->write + t) + b * k * e;
        const double l = b * (gamma_of(2 + 6, U) * k * (size + e) + g4 * v) * (1 + g4) + g4 * write, w = write + l;
        e = value_of(d->grow + t) * e + k * l + gamma_of(2, U) * k * w + U * (size + e + k * w);
    }
    ck_assert(bound_delta_state(error, &r.m, &r.x.row, &r.x.in, 0, 0));
    within("deltanet", "state", error, e, 1e-4);
    row_stop(&r);
    mag_clear(error);
}
END_TEST

Suite *suite_bound_steps(void)
{
    Suite *s = suite_create("bound_steps");
    TCase *t = tcase_create("bound_steps");
    tcase_add_test(t, steps_of_a_score);
    tcase_add_test(t, filter_has_three_answers);
    tcase_add_test(t, filter_of_exact_scores);
    tcase_add_test(t, decay_of_weights);
    tcase_add_test(t, gates_of_heads);
    tcase_add_test(t, rotations);
    tcase_add_test(t, vectors_of_length_one);
    tcase_add_test(t, norms_of_a_row);
    tcase_add_test(t, delta_state);
    tcase_add_test(t, delta_state_by_hand);
    suite_add_tcase(s, t);
    return s;
}

/* test_bound_outputs.c - the bounds of o, u, z, lse and of states put together from a row's quantities, term by term,
 * and the abs_scales, against the formulas of derivations.md in plain doubles (R-CENTRE ... R-LSE, R-HT). */
#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_outputs(void);

typedef struct expected {
    double term[ATTEST_TERM_COUNT];
} expected;

static const double value[3] = { 1, -2, 1 };

static double total_of(const row_case *r, int set)
{
    double sum = 0;
    for (int j = 0; j < 3; j++)
        sum += value_of(r->w.set[set] + j);
    return sum;
}

/* sum of the set's entries times |v - o| */
static double spread(const row_case *r, int set, double o)
{
    double sum = 0;
    for (int j = 0; j < 3; j++)
        sum += value_of(r->w.set[set] + j) * fabs(value[j] - o);
    return sum;
}

static double ball_of(const arb_t x) { return arf_get_d(arb_midref(x), ARF_RND_NEAR); }

/* The denominator's own error, R-SUM and R-STATE; `beside`: sink or eps. */
static double denominator(const row_case *r, double beside, double given)
{
    const bound_weights *w = &r->w;
    double d = total_of(r, BOUND_SUM) + value_of(w->lost) + beside * value_of(w->gamma_sum);
    if (r->m.recurrent)
        d += value_of(w->lost_state) + given * value_of(w->gamma_state);
    return d;
}

static double numerator(const row_case *r, double given)
{
    const bound_weights *w = &r->w;
    double d = spread(r, BOUND_SUM, 0) + value_of(w->lost);
    if (r->m.recurrent)
        d += 2 * value_of(w->lost_state) + given * value_of(w->gamma_state); /* the largest |v| is 2 */
    return d;
}

/* |Z| less the weights' errors. */
static double left(const row_case *r, double z, double extra)
{
    const double cast = r->m.cast_common == ATTEST_NO ? 0 : total_of(r, BOUND_CAST);
    return z - total_of(r, BOUND_SCORE) - total_of(r, BOUND_EXP) - cast - extra;
}

/* R-OUT after a relative error: what the last operations add. */
static void round_output(expected *y, const row_case *r, double size, double relative, uint32_t dtype)
{
    const double tiny = value_of(r->m.tiny);
    const int narrow = attest_format_of(dtype).p < attest_format_of(r->m.p->acc).p;
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        size += y->term[t];
    y->term[ATTEST_TERM_DIVISION] += size * relative;
    size += size * relative + tiny;
    y->term[ATTEST_TERM_DIVISION] += 2 * tiny;
    if (narrow) {
        const attest_format f = attest_format_of(dtype);
        y->term[ATTEST_TERM_DIVISION] += ldexp(1, ilogb(size) - f.p) + ldexp(1, f.emin - f.p); /* half an ulp */
    }
}

typedef struct output_case {
    const char *line;
    attest_numerics n;
    uint32_t flags;
    uint32_t dtype;
    double beside;           /* sink or eps in the divisor */
    double given_u, given_z; /* absolute terms of given states */
} output_case;

/* R-RUNNING: an undeclared kernel may keep a running mean; the largest |v| is 2, a share may be above 1. */
static double mean_of(const row_case *r)
{
    const double tau = both(both(gamma_of(6, U), value_of(r->m.u_div)), value_of(r->m.u_cast));
    return 2 * (1 + gamma_of(2, tau));
}

static double running(const row_case *r)
{
    const double kappa = both(gamma_of(6, U), value_of(r->m.u_div));
    return r->m.running ? mean_of(r) * kappa / (1 - 2 * kappa) * (1 + gamma_of(6 * (3 + 1), U)) : 0;
}

static double weights_of(const row_case *r)
{
    double sum = total_of(r, BOUND_SCORE) + total_of(r, BOUND_EXP) + total_of(r, BOUND_CAST);
    for (int j = 0; j < 3; j++)
        sum += value_of(r->w.size + j);
    return sum;
}

static void expect_o(expected *y, const row_case *r, const output_case *c)
{
    const double z = ball_of(r->x.row.z) + c->beside, o = ball_of(r->x.row.o), extra = value_of(r->w.extra_error);
    const double weak = left(r, z, extra), d = denominator(r, c->beside + extra, c->given_z), weaker = weak - d;
    const double common = spread(r, BOUND_CAST, o) / weak,
                 moved = r->m.running ? mean_of(r) * total_of(r, BOUND_CAST) : 0,
                 apart = (spread(r, BOUND_CAST, 0) + moved) / weaker;
    double relative = value_of(r->m.u_div);
    if (strstr(c->line, "softmax1")) /* a sink, which may be a factor of its own */
        relative = both(relative, both(relative, U));
    if (r->w.merges && r->m.exponential) {
        const double sum = gamma_of((double)r->w.merges + 1, fmax(value_of(r->m.u), value_of(r->m.u_sum)));
        relative = both(relative, both(expm1(value_of(r->w.merge)),
                                       both(gamma_of(2 * (double)r->w.logs, value_of(r->m.u_exp)), sum)));
    }
    y->term[ATTEST_TERM_SCORE] = spread(r, BOUND_SCORE, o) / weak;
    y->term[ATTEST_TERM_EXP] = (spread(r, BOUND_EXP, o) + extra * fabs(o)) / weak;
    y->term[ATTEST_TERM_CAST] = r->m.cast_common == ATTEST_YES  ? common
                                : r->m.cast_common == ATTEST_NO ? apart
                                                                : fmax(common, apart);
    const double size = fabs(o) + y->term[ATTEST_TERM_SCORE] + y->term[ATTEST_TERM_EXP] + y->term[ATTEST_TERM_CAST];
    y->term[ATTEST_TERM_ACCUMULATION] = (numerator(r, c->given_u) + size * d) / weaker + running(r);
    round_output(y, r, fabs(o), relative, c->dtype);
}

static void expect_u(expected *y, const row_case *r, const output_case *c)
{
    y->term[ATTEST_TERM_SCORE] = spread(r, BOUND_SCORE, 0);
    y->term[ATTEST_TERM_EXP] = spread(r, BOUND_EXP, 0);
    y->term[ATTEST_TERM_CAST] = spread(r, BOUND_CAST, 0) + (r->m.running ? mean_of(r) * total_of(r, BOUND_CAST) : 0);
    y->term[ATTEST_TERM_ACCUMULATION] = numerator(r, c->given_u) + running(r) * weights_of(r);
    round_output(y, r, fabs(ball_of(r->x.row.u)), 0, c->dtype);
}

static void expect_z(expected *y, const row_case *r, const output_case *c)
{
    y->term[ATTEST_TERM_SCORE] = total_of(r, BOUND_SCORE);
    y->term[ATTEST_TERM_EXP] = total_of(r, BOUND_EXP);
    y->term[ATTEST_TERM_CAST] = r->m.cast_common == ATTEST_NO ? 0 : total_of(r, BOUND_CAST);
    y->term[ATTEST_TERM_ACCUMULATION] = denominator(r, 0, c->given_z);
    round_output(y, r, fabs(ball_of(r->x.row.z)), 0, c->dtype);
}

static void expect_lse(expected *y, const row_case *r, const output_case *c)
{
    const int sink = (c->flags & ATTEST_LSE_WITH_SINK) != 0, base2 = (c->flags & ATTEST_LSE_BASE2) != 0;
    const double beside = sink ? c->beside : 0, z = ball_of(r->x.row.z) + beside,
                 extra = sink ? value_of(r->w.extra_error) : 0;
    const double d = denominator(r, sink ? beside + extra : 0, c->given_z), weaker = left(r, z, extra) - d;
    const double merge = value_of(r->w.merge), change = base2 ? 1 / log(2) : 1;
    const double above = sink ? fmax(0, log(c->beside) + value_of(r->w.score_max)) : 0; /* of a maximum of keys */
    const double log_size = (r->m.exponential ? log(3 + 2) + above : fabs(log(z))) + 1;
    const double size = log_size + value_of(r->w.score_max);
    y->term[ATTEST_TERM_SCORE] = (total_of(r, BOUND_SCORE) / weaker + value_of(r->w.center));
    y->term[ATTEST_TERM_EXP] = (total_of(r, BOUND_EXP) + extra) / weaker;
    y->term[ATTEST_TERM_CAST] = r->m.cast_common == ATTEST_NO ? 0 : total_of(r, BOUND_CAST) / weaker;
    y->term[ATTEST_TERM_ACCUMULATION] = d / weaker;
    y->term[ATTEST_TERM_DIVISION] = log_size * value_of(r->m.u_log) +
                                    size * gamma_of(r->m.log2_domain || base2 ? 5 : 2, U) + merge;
    for (int t = 0; t < ATTEST_TERM_COUNT; t++)
        y->term[t] *= change;
    round_output(y, r, fabs(log(z) + ball_of(r->x.row.c)) * change, U, c->dtype);
}

#define LINE " n=1 m=3 d=2 e=1 scale=0.5"

static const output_case outputs[] = {
    { "variant=softmax" LINE, { .schedule = ATTEST_SCHEDULE_TWO_PASS }, 0, ATTEST_F32, 0, 0, 0 },
    { "variant=softmax" LINE " out=bf16",
      { .schedule = ATTEST_SCHEDULE_ONLINE, .log2_domain = ATTEST_NO },
      ATTEST_LSE_BASE2,
      ATTEST_BF16,
      0,
      0,
      0 },
    { "variant=softmax" LINE, { .schedule = ATTEST_SCHEDULE_SPLIT, .splits = 2 }, 0, ATTEST_F32, 0, 0, 0 },
    { "variant=softmax eps=1" LINE, { 0 }, 0, ATTEST_F32, 1, 0, 0 },
    { "variant=softmax1" LINE,
      { .schedule = ATTEST_SCHEDULE_TWO_PASS, .log2_domain = ATTEST_NO },
      ATTEST_LSE_WITH_SINK,
      ATTEST_F32,
      1,
      0,
      0 },
    { "variant=softmax p=bf16" LINE,
      { .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_NO },
      0,
      ATTEST_F32,
      0,
      0,
      0 },
    { "variant=softmax p=bf16" LINE,
      { .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_YES },
      0,
      ATTEST_F32,
      0,
      0,
      0 },
    { "variant=softmax p=bf16" LINE, { 0 }, 0, ATTEST_F32, 0, 0, 0 },
    { "variant=softmax p=bf16" LINE, { .division = ATTEST_DIVISION_THEN_CAST }, 0, ATTEST_F32, 0, 0, 0 },
    { "variant=softmax p=bf16" LINE,
      { .schedule = ATTEST_SCHEDULE_ONLINE, .division = ATTEST_DIVISION_RUNNING, .cast_in_sum = ATTEST_NO },
      0,
      ATTEST_F32,
      0,
      0,
      0 },
    { "variant=taylor:2 center=mid" LINE,
      { .schedule = ATTEST_SCHEDULE_DIRECT, .log2_domain = ATTEST_NO },
      0,
      ATTEST_F32,
      0,
      0,
      0 },
    { "variant=taylor:2 state=draw mask=causal-br" LINE,
      { .schedule = ATTEST_SCHEDULE_RECURRENT },
      0,
      ATTEST_F32,
      0,
      10.5,
      2 },
};

static void check_output(const output_case *c, attest_role role)
{
    static void (*const formula[])(expected *, const row_case *, const output_case *) = {
        [ATTEST_O] = expect_o, [ATTEST_U] = expect_u, [ATTEST_Z] = expect_z, [ATTEST_LSE] = expect_lse
    };
    static const char *const names[] = { "score", "exp", "cast", "accumulation", "division" };
    row_case r;
    ref_bound bound;
    expected y = { { 0 } };
    char what[64];
    row_start(&r, c->line, &c->n, c->flags, role == ATTEST_O || role == ATTEST_LSE);
    if (c->given_u > 0) {
        ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, 7); /* scale q_0 7 = 10.5 */
        ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_Z0, 0 }, 0, 0, 0, 0, 2);
        ball_case_row(&r.x, 0, 0, 0, 128);
    }
    ref_bound_init(&bound);
    MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, &c->n, c->flags, ROLE(role), c->dtype, (attest_row){ 0, 0, 0 },
                       &r.x.err),
         &r.x);
    formula[role](&y, &r, c);
    double total = 0;
    for (int t = 0; t < ATTEST_TERM_COUNT; t++) {
        snprintf(what, sizeof what, "%s of %s", names[t], attest_roles[role].name);
        within(c->line, what, bound.term[t], y.term[t], 1e-4); /* e^x - 1 is coarse */
        total += y.term[t];
    }
    within(c->line, "total", bound.total, total, 1e-4);
    ck_assert_msg(!bound.unbounded, "%s: no bound", c->line);
    ref_bound_clear(&bound);
    row_stop(&r);
}

START_TEST(outputs_are_made_of_their_parts)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    for (size_t k = 0; k < sizeof outputs / sizeof outputs[0]; k++)
        for (int role = 0; role < 4; role++)
            check_output(&outputs[k], roles[role]);
}
END_TEST

/* Outputs so small that only underflow counts. */
START_TEST(underflow_of_outputs)
{
    const attest_numerics pass = { .schedule = ATTEST_SCHEDULE_TWO_PASS };
    const attest_numerics recurrent = { .schedule = ATTEST_SCHEDULE_RECURRENT };
    ref_bound bound;
    row_case r;
    ref_bound_init(&bound);
    row_open(&r, "n=1 m=1 d=1 e=1 out=bf16", 0, 0);
    ball_case_put(&r.x, ATTEST_V, 0, 0, 0, 0, 0x1p-140);
    row_ready(&r, &pass, 0, 1);
    MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, &pass, 0, ROLE(ATTEST_O), ATTEST_BF16, (attest_row){ 0, 0, 0 },
                       &r.x.err),
         &r.x);
    double size = 0x1p-140;
    for (int k = 0; k < ATTEST_TERM_DIVISION; k++)
        size += value_of(bound.term[k]);
    is("tiny o", "division", bound.term[ATTEST_TERM_DIVISION],
       5 * U * size + ldexp(1, ilogb((1 + 5 * U) * size + ETA) - 8) + 0x1p-134 + 2 * ETA);
    row_stop(&r);
    row_open(&r, "variant=taylor:2 mask=causal-br n=1 m=3 d=2 e=1", 3, 2); /* v = 0 */
    row_ready(&r, &recurrent, 0, 0);
    MUST(ref_bound_row(&bound, &r.x.row, &r.x.in, &recurrent, 0, ROLE(ATTEST_U), ATTEST_F32, (attest_row){ 0, 0, 0 },
                       &r.x.err),
         &r.x);
    is("v = 0", "accumulation", bound.term[ATTEST_TERM_ACCUMULATION], value_of(r.w.lost) + value_of(r.w.lost_state));
    row_stop(&r);
    ref_bound_clear(&bound);
}
END_TEST

/* z = 1 - 3/2 < 0 has no logarithm, z + e^0 = 1/2 has. */
START_TEST(lse_that_the_sink_makes)
{
    const attest_numerics numerics = { 0 };
    uint64_t bits;
    attest_element y;
    attest_truth *truth;
    attest_tensor t;
    ball_case x;
    ball_case_start(&x, "variant=taylor:1 norm=sink n=1 m=1 d=1 e=1 scale=1", 0);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 1);
    ball_case_put(&x, ATTEST_K, 0, 0, 0, 0, -1.5);
    MUST(attest_truth_new(&truth, &x.c.problem, x.bundle, ATTEST_ENGINE_AUTO, &x.err), &x);
    attest_tensor_describe(&t, &x.c.problem, ROLE(ATTEST_LSE), 0);
    bits = attest_from_f64(t.dtype, -0.69314718);
    t.data = &bits;
    for (int sink = 0; sink < 2; sink++) {
        MUST(attest_judge_row(&y, NULL, truth, &numerics, sink ? ATTEST_LSE_WITH_SINK : 0, ROLE(ATTEST_LSE), &t,
                              (attest_row){ 0, 0, 0 }, &x.err),
             &x);
        ck_assert_msg(y.class == (sink ? ATTEST_CLASS_NORMAL : ATTEST_CLASS_ABSENT) && (!sink || y.ratio_hi <= 1),
                      "sink %d: class %u, ratio %g", sink, y.class, y.ratio_hi);
    }
    attest_truth_free(truth);
    ball_case_stop(&x);
}
END_TEST

/* ---- states (R-HT) ------------------------------------------------------------------------------------------------
 */
/* Two KV heads: the bound takes the largest feature and the largest sum of |v|. */
static void check_state(int degree, int z_state, uint32_t dtype)
{
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_RECURRENT,
                                .exp_error = 8 * U,
                                .log2_domain = ATTEST_NO,
                                .state_dtype = 1 + ATTEST_F16 };
    const double f = both(8 * U, U), t = LEAST, k = 5, abs_scale = 3, state = 2.5, sum_v = 2 + 4 + 3;
    const double top = k * (1 + f) + t;
    const attest_tensor_id id = { z_state ? ATTEST_KIND_ZT : ATTEST_KIND_HT, (uint32_t)degree };
    ball_case x;
    ref_bound bound;
    mag_t size;
    arb_t truth;
    mag_init(size);
    arb_init(truth);
    mag_set_d(size, abs_scale);
    arb_set_d(truth, -state);
    ball_case_start(&x, "variant=elu-taylor:2 mask=causal hq=2 n=3 d=2 e=2", 0);
    ball_case_put(&x, ATTEST_K, 0, 1, 1, 0, 4); /* feature 5 */
    ball_case_put(&x, ATTEST_V, 0, 0, 0, 1, -2);
    ball_case_put(&x, ATTEST_V, 0, 0, 1, 1, 4);
    ball_case_put(&x, ATTEST_V, 0, 0, 2, 1, 3);
    ball_case_put(&x, ATTEST_V, 0, 1, 2, 1, 1);
    ref_bound_init(&bound);
    ref_bound both_channels[2];
    mag_struct abs_scales[2] = { *size, *size };
    arb_struct states[2] = { *truth, *truth };
    ref_bound_init(&both_channels[0]);
    ref_bound_init(&both_channels[1]);
    MUST(ref_bound_state(both_channels, z_state ? 1 : 2, abs_scales, states, &x.in, &n, 0, id, dtype, 0, 0, &x.err),
         &x);
    const ref_bound *got = &both_channels[z_state ? 0 : 1];
    const double relative = both(both(gamma_of(3 + degree + 2, U), gamma_of(4, 0x1p-11)), gamma_of(degree, f));
    const double slope = degree ? degree * t * pow(top, degree - 1) : 0;
    const double lost = (4 * (degree + 3) * ETA * pow(top, degree) + 2 * (3 + 1) * 0x1p-25) * (z_state ? 1 : sum_v);
    const double score_term = slope * (z_state ? 3 : sum_v), sums = abs_scale * relative + lost;
    const double narrow = dtype == ATTEST_F32 ? 0 : (state + sums + score_term) * 0x1p-8 + 0x1p-134;
    is("state", "score", got->term[ATTEST_TERM_SCORE], score_term);
    is("state", "accumulation", got->term[ATTEST_TERM_ACCUMULATION], sums);
    is("state", "division", got->term[ATTEST_TERM_DIVISION], narrow);
    is("state", "total", got->total, score_term + sums + narrow);
    mag_zero(size);
    abs_scales[0] = abs_scales[1] = *size; /* no terms: underflow alone */
    MUST(ref_bound_state(both_channels, z_state ? 1 : 2, abs_scales, states, &x.in, &n, 0, id, dtype, 0, 0, &x.err),
         &x);
    is("state", "underflow", got->term[ATTEST_TERM_ACCUMULATION], lost);
    ref_bound_clear(&both_channels[0]);
    ref_bound_clear(&both_channels[1]);
    ref_bound_clear(&bound);
    mag_clear(size);
    arb_clear(truth);
    ball_case_stop(&x);
}

/* A kernel that multiplies the features first overflows at 2^128: 2^124 has a bound, 2^126.5 none, whatever v. */
START_TEST(products_of_features_overflow)
{
    static const struct {
        double k;
        int unbounded;
    } rows[] = { { 0x1p62, 0 }, { 0x1.7p63, 1 } };
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_RECURRENT };
    const attest_tensor_id id = { ATTEST_KIND_HT, 2 };
    for (size_t t = 0; t < sizeof rows / sizeof rows[0]; t++) {
        ball_case x;
        ref_bound bound;
        mag_t abs_scale;
        arb_t state;
        mag_init(abs_scale);
        arb_init(state);
        ball_case_start(&x, "variant=taylor:2 mask=causal n=1 d=1 e=1", 0);
        ball_case_put(&x, ATTEST_K, 0, 0, 0, 0, rows[t].k);
        ball_case_put(&x, ATTEST_V, 0, 0, 0, 0, 0x1p-20);
        arb_set_d(state, rows[t].k * rows[t].k * 0x1p-20);
        arb_get_mag(abs_scale, state);
        ref_bound_init(&bound);
        MUST(ref_bound_state(&bound, 1, abs_scale, state, &x.in, &n, 0, id, ATTEST_F32, 0, 0, &x.err), &x);
        ck_assert_int_eq(bound.unbounded, rows[t].unbounded);
        ref_bound_clear(&bound);
        ball_case_stop(&x);
        arb_clear(state);
        mag_clear(abs_scale);
    }
}
END_TEST

START_TEST(states)
{
    for (int degree = 0; degree <= 2; degree++)
        for (int z_state = 0; z_state < 2; z_state++) {
            check_state(degree, z_state, ATTEST_F32);
            check_state(degree, z_state, ATTEST_BF16);
        }
}
END_TEST

/* ---- abs_scales
 * --------------------------------------------------------------------------------------------------------
 */
START_TEST(abs_scales)
{
    static const attest_role roles[] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };
    static const char *const lines[] = { "n=1 m=3 d=2 e=1 scale=0.5",
                                         "variant=taylor:2 n=1 m=3 d=2 e=1 scale=0.5 mask=causal-br state=draw" };
    for (int t = 0; t < 2; t++) {
        const attest_numerics numerics = { 0 };
        row_case r;
        row_start(&r, lines[t], &numerics, 0, 1);
        double z = 0, u = 0, wv = 0, given_u = 0, given_z = 0, far = 0, with_s = 0, total = 0, v_s = 0;
        if (t == 1) { /* q = (3, -1), scale 0.5: degree 2 is multiplied by 1/8 and q_a q_b */
            ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 0 }, 0, 0, 0, 0, 5);
            ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_Z0, 0 }, 0, 0, 0, 0, -2);
            ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 1 }, 0, 0, 0, 0, 7);
            ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_Z0, 1 }, 0, 0, 1, 0, 3);
            ball_case_put_id(&r.x, (attest_tensor_id){ ATTEST_KIND_H0, 2 }, 0, 0, 1, 0, 11);
            ball_case_row(&r.x, 0, 0, 0, 128);
            given_u = 5 + 0.5 * 3 * 7 + 0.125 * 3 * 11;
            given_z = 2 + 0.5 * 1 * 3;
            z = -2 - 0.5 * 3;
            u = 5 + 0.5 * 3 * 7 - 0.125 * 3 * 11;
        }
        for (int j = 0; j < 3; j++) {
            const double w = t ? 1 + score[j] + score[j] * score[j] / 2 : exp(score[j]), v = j == 1 ? -2 : 1;
            z += w;
            u += w * v;
            wv += fabs(w * v);
            total += fabs(w);
            with_s += t ? 0 : w * mass[j];
            v_s += t ? 0 : w * mass[j] * fabs(v);
        }
        for (int j = 0; j < 3; j++)
            far += t ? 0 : exp(score[j]) * mass[j] * fabs((j == 1 ? -2 : 1) - u / z);
        const double want[] = { (wv + far + given_u) / fabs(z), wv + v_s + given_u, total + with_s + given_z,
                                (total + with_s + given_z) / fabs(z) };
        for (int k = 0; k < 4; k++) {
            mag_t abs_scale;
            mag_init(abs_scale);
            MUST(ref_abs_scale_row(abs_scale, &r.x.row, &r.x.in, ROLE(roles[k]), (attest_row){ 0, 0, 0 }, &r.x.err),
                 &r.x);
            is(lines[t], attest_roles[roles[k]].name, abs_scale, want[k]);
            mag_clear(abs_scale);
        }
        row_stop(&r);
    }
}
END_TEST

Suite *suite_bound_outputs(void)
{
    Suite *s = suite_create("bound_outputs");
    TCase *t = tcase_create("bound_outputs");
    tcase_add_test(t, outputs_are_made_of_their_parts);
    tcase_add_test(t, underflow_of_outputs);
    tcase_add_test(t, lse_that_the_sink_makes);
    tcase_add_test(t, states);
    tcase_add_test(t, products_of_features_overflow);
    tcase_add_test(t, abs_scales);
    suite_add_tcase(s, t);
    return s;
}

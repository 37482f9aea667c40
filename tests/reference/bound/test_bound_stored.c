/* test_bound_stored.c - features, turned, gated and decayed numbers, what a delta rule writes, and quotients of parts
 * that are rounded to a narrow type before they are read: the constants of a model against R-FEATURE, R-SCORE, R-DECAY,
 * R-GATE and R-MERGE, what overflows, and how wide a delta rule's bound is. */
#include <math.h>
#include <string.h>

#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_stored(void);

/* Features and turned numbers that are rounded to the type of scaled ones, F and t with and without. */
static const struct {
    const char *line;
    double scaled; /* u_q that is left for the scale */
    int roundings; /* of phi by storing it and the steps to it, relatively */
    int steps;     /* roundings within the feature */
    double added;  /* what they add to t, in u_q */
    double lost;   /* and in eta_q */
    int turned;    /* roundings of rope's products, and between rope and the feature */
} stored[] = {
    { "variant=linear in=bf16 n=1 m=3 d=2 e=1 scale=0.3", 0x1p-8, 0, 0, 0, 0, 0 },
    { "variant=linear feature=relu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 0, 0, 0, 0, 0 },
    { "variant=linear in=bf16 n=1 m=3 d=2 e=1 scale=-1", 0, 0, 0, 0, 0, 0 },
    { "variant=linear in=bf16 n=1 m=3 d=2 e=1 scale=-0.25", 0, 0, 0, 0, 0, 0 },
    { "variant=linear feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=-1", 0, 2, 1, 0, 134, 0 },
    { "variant=linear rope=16 feature=relu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 1, 0, 0, 4, 1 },
    { "variant=linear feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=0.3", 0x1p-8, 2, 1, 0, 134, 0 },
    { "variant=linear feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 2, 1, 0, 134, 0 },
    { "variant=linear feature=elu1 in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 1, 1, 1, 1, 0 },
    { "variant=linear feature=elu1 in=f32 n=1 m=3 d=2 e=1 scale=1", 0, 2, 1, 1, 1, 0 },
    { "variant=linear rope=16 in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 1, 0, 0, 4, 1 },
    { "variant=linear feature=unit in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 2, 0, 0, 0, 0 },
    { "variant=linear rope=16 feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 2, 1, 0, 134 + 6, 2 },
    { "variant=gla feature=silu in=bf16 n=3 m=3 d=2 e=1 scale=1", 0x1p-8, 2, 1, 0, 134, 0 },
};

START_TEST(stored_features)
{
    for (size_t k = 0; k < sizeof stored / sizeof stored[0]; k++) {
        attest_numerics n = { .schedule = ATTEST_SCHEDULE_DIRECT };
        const double u = 0x1p-8, tiny = 0x1p-134, wave = 9 * U;
        ball_case x;
        bound_model before, m;
        ball_case_start(&x, stored[k].line, 0);
        bound_model_init(&before);
        bound_model_init(&m);
        ck_assert(bound_model_set(&before, &x.in, &n, 0));
        n.scaled_dtype = 1 + ATTEST_BF16;
        ck_assert(bound_model_set(&m, &x.in, &n, 0));
        const double f = value_of(before.feature), t = value_of(before.feature_tiny);
        const double within = (stored[k].steps ? t * (1 + u) : t) + stored[k].added * u + stored[k].lost * tiny;
        ck_assert_int_eq(m.stores_features, stored[k].roundings > 0);
        is(stored[k].line, "F", m.feature, (1 + f) * pow(1 + u, stored[k].roundings) - 1);
        is(stored[k].line, "t", m.feature_tiny, stored[k].roundings ? within * (1 + u) + tiny : t);
        is(stored[k].line, "scaled", m.scaled, stored[k].scaled);
        is(stored[k].line, "turned", m.turned, pow(1 + u, stored[k].turned) - 1);
        is(stored[k].line, "sin and cos", m.u_wave, stored[k].roundings ? wave + u + wave * u : wave);
        bound_model_clear(&before);
        bound_model_clear(&m);
        ball_case_stop(&x);
    }
}
END_TEST

/* A number that is stored as it comes from rope may be beyond its type, whatever the scale. */
START_TEST(stored_features_overflow)
{
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_DIRECT,
                                .scaled_dtype = 1 + ATTEST_F16,
                                .scale_dtype = 1 + ATTEST_F32 };
    static const struct {
        const char *line;
        double q;
        int overflow;
    } of[] = {
        { "variant=linear in=f16 n=1 m=1 d=2 e=1 scale=0.25", 40000, 0 },
        { "variant=linear rope=16 in=f16 n=1 m=1 d=2 e=1 scale=0.25", 40000, 1 },
        { "variant=linear feature=silu-unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 8192, 0 },
        { "variant=linear feature=silu-unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 65536, 1 }, /* silu, before its norm */
        { "variant=linear feature=unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 8192, 0 },
        { "variant=linear feature=unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 65536, 1 }, /* the norm */
        { "variant=linear feature=unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 0x1p-20, 0 },
        { "variant=linear feature=unit in=bf16 n=1 m=1 d=2 e=1 scale=0.25", 0x1p-24, 1 }, /* it may become 0 */
    };
    for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
        row_case r;
        row_open(&r, of[k].line, of[k].q, 1);
        row_ready(&r, &n, 0, 1);
        ck_assert_msg(r.w.overflow == of[k].overflow, "%s, q = %g: %d", of[k].line, of[k].q, r.w.overflow);
        row_stop(&r);
    }
}
END_TEST

/* R-SCORE: q, and k where the scale may be a root on both sides, is stored once more where it is scaled and decayed. */
START_TEST(stored_again)
{
    static const struct {
        const char *line;
        uint32_t schedule, scale;
        int stores;
    } again[] = {
        { "variant=gla in=bf16 n=3 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_CHUNK, 1 + ATTEST_F32, 3 },
        { "variant=gla in=bf16 n=3 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_CHUNK, 0, 4 },
        { "variant=gla in=bf16 n=3 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_RECURRENT, 0, 2 },
        { "variant=gla in=bf16 n=3 m=3 d=2 e=1 scale=-1", ATTEST_SCHEDULE_CHUNK, 0, 2 },
        { "variant=linear mask=causal in=bf16 n=3 m=3 d=2 e=1 scale=0.3", ATTEST_SCHEDULE_CHUNK, 0, 2 },
        { "variant=gdn in=bf16 n=3 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_CHUNK, 0, 2 },
    };
    for (size_t k = 0; k < sizeof again / sizeof again[0]; k++) {
        attest_numerics n = { .schedule = again[k].schedule, .scale_dtype = again[k].scale };
        const double u = 0x1p-8, u2 = both(u, u);
        const double more = again[k].stores == 4 ? u2 : again[k].stores == 3 ? u : 0;
        ball_case x;
        bound_model before, m;
        ball_case_start(&x, again[k].line, 0);
        bound_model_init(&before);
        bound_model_init(&m);
        ck_assert(bound_model_set(&before, &x.in, &n, 0));
        n.scaled_dtype = 1 + ATTEST_BF16;
        ck_assert(bound_model_set(&m, &x.in, &n, 0));
        ck_assert_int_eq(m.stores, again[k].stores);
        is(again[k].line, "scale", m.score_scale, both(value_of(before.score_scale), both(u2, more)));
        bound_model_clear(&before);
        bound_model_clear(&m);
        ball_case_stop(&x);
    }
}
END_TEST

/* R-SCORE, R-DECAY: what storing loses of |q|_1 = 4 and |k|_1 = 3 meets the largest decay that follows, here 4. */
START_TEST(stored_decayed)
{
    static const struct {
        const char *line;
        uint32_t schedule;
        double scaled, decayed;
    } stores[] = {
        { "variant=simple-gla in=f16 n=3 m=3 d=2 e=1 scale=1", ATTEST_SCHEDULE_CHUNK, 28, 4 * 28 },
        { "variant=simple-gla in=f16 n=3 m=3 d=2 e=1 scale=1", ATTEST_SCHEDULE_RECURRENT, 28, 0 },
        { "variant=gla in=f16 n=3 m=3 d=2 e=1 scale=1", ATTEST_SCHEDULE_CHUNK, 2 * 4 * 28, 0 },
        { "variant=gla in=f16 n=3 m=3 d=2 e=1 scale=1 state=draw", ATTEST_SCHEDULE_RECURRENT, 4 * 28, 0 },
    };
    for (size_t k = 0; k < sizeof stores / sizeof stores[0]; k++) {
        const attest_numerics n = { .schedule = stores[k].schedule, .scaled_dtype = 1 + ATTEST_F16 };
        const char *line = stores[k].line;
        const int channels = strstr(line, "simple") ? 1 : 2;
        row_case r;
        AUTO_MAG(x);
        row_open(&r, line, 3, 1);
        ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 1, -1);
        ball_case_put(&r.x, ATTEST_K, 0, 0, 0, 1, 2);
        for (int c = 0; c < channels; c++)
            ball_case_put(&r.x, ATTEST_DECAY, 0, 0, 0, c, 4);
        row_ready(&r, &n, 0, 0);
        bound_scaled_error(x, &r.w, &r.m, &r.x.row, 0);
        is(line, "scaled", x, stores[k].scaled * 0x1p-25);
        bound_decayed_error(x, &r.w, &r.m, &r.x.row, 0);
        is(line, "decayed", x, stores[k].decayed * 0x1p-25);
        row_stop(&r);
    }
}
END_TEST

/* It is an error of the pair, and of the state's term, in whatever form the key is read: 2^14 28 2^-25. */
START_TEST(stored_decayed_twice)
{
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_CHUNK, .scaled_dtype = 1 + ATTEST_F16 };
    const char *line = "variant=simple-gla in=f16 n=3 m=3 d=2 e=1 scale=1";
    row_case r;
    row_open(&r, line, 3, 1);
    ball_case_put(&r.x, ATTEST_Q, 0, 0, 0, 1, -1);
    ball_case_put(&r.x, ATTEST_K, 0, 0, 0, 1, 2);
    ball_case_put(&r.x, ATTEST_DECAY, 0, 0, 0, 0, 0x1p14);
    row_ready(&r, &n, 0, 0);
    within(line, "pair", r.w.set[BOUND_SCORE], 28 * 0x1p-11, 0.8);
    within(line, "state", r.w.set[BOUND_SUM], 28 * 0x1p-11, 0.8);
    row_stop(&r);
}
END_TEST

/* R-HT, R-DELTA: the last row's o, or the state, of two tokens with q = 1, keys k, values v (and -v where there is a
 * beta, k^2 beta at most 24), decays a. */
static void must_be(const char *line, const attest_numerics *n, double k, double v, double a, int state, int unbounded)
{
    const attest_tensor_id ht = { ATTEST_KIND_HT, 1 }, o = { ATTEST_KIND_ROLE, ATTEST_O };
    ball_case x;
    ref_bound bound;
    AUTO_ARB(truth);
    AUTO_MAG(terms);
    ball_case_start(&x, line, 0);
    for (int t = 0; t < 2; t++) {
        ball_case_put(&x, ATTEST_Q, 0, 0, t, 0, 1);
        ball_case_put(&x, ATTEST_K, 0, 0, t, 0, k);
        ball_case_put(&x, ATTEST_V, 0, 0, t, 0, t && x.in.role[ATTEST_BETA] ? -v : v);
        if (x.in.role[ATTEST_BETA])
            ball_case_put(&x, ATTEST_BETA, 0, 0, t, 0, k > 1 ? 0x1p-24 : 1);
        if (x.in.role[ATTEST_DECAY])
            ball_case_put(&x, ATTEST_DECAY, 0, 0, t, 0, a);
    }
    ball_case_row(&x, 0, 0, 1, 128);
    ref_bound_init(&bound);
    if (state)
        MUST(ref_bound_state(&bound, 1, terms, truth, &x.in, n, 0, ht, ATTEST_F32, 0, 0, &x.err), &x);
    else
        MUST(ref_bound_row(&bound, &x.row, &x.in, n, 0, o, ATTEST_F32, (attest_row){ 0, 0, 1 }, &x.err), &x);
    ck_assert_msg(bound.unbounded == unbounded, "%s, schedule %u, a %g, %s: unbounded %d, bound %g", line, n->schedule,
                  a, state ? "ht" : "o", bound.unbounded, value_of(bound.total));
    ref_bound_clear(&bound);
    ball_case_stop(&x);
}

/* What is stored in f16 may be beyond 2^14 where its factors are not: keys and values times decays, what is written. */
START_TEST(stored_decayed_overflow)
{
    static const struct {
        const char *line;
        double k, v, near, far; /* decays */
    } far[] = {
        { "variant=gla scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1 chunk=4", 5000, 0x1p-10, 1.75, 2 },
        { "variant=simple-gla scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1 chunk=4", 0x1p-10, 5000, 1.75, 2 },
        { "variant=deltanet decay=vector scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1 chunk=4", 5000, 0x1p-13, 1.75, 2 },
    };
    const attest_numerics unknown = { .schedule = 0 }, recurrent = { .schedule = ATTEST_SCHEDULE_RECURRENT };
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++)
        for (int state = 0; state < 2; state++) {
            must_be(far[k].line, &unknown, far[k].k, far[k].v, far[k].near, state, 0);
            must_be(far[k].line, &unknown, far[k].k, far[k].v, far[k].far, state, 1);
            must_be(far[k].line, &recurrent, far[k].k, far[k].v, far[k].far, state, 0);
        }
}
END_TEST

START_TEST(stored_written_overflow)
{
    const char *line = "variant=deltanet scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1 chunk=4";
    const attest_numerics unknown = { .schedule = 0 }, chunk = { .schedule = ATTEST_SCHEDULE_CHUNK };
    for (int state = 0; state < 2; state++) {
        must_be(line, &unknown, 1, 8000, 1, state, 0);
        must_be(line, &unknown, 1, 9000, 1, state, 1); /* v - k S = -18000 */
        must_be(line, &chunk, 1, 9000, 1, state, 0);
    }
}
END_TEST

/* And numbers of other kinds: features, scaled queries, pairs that are cast. */
START_TEST(stored_overflow)
{
    static const struct {
        const char *line;
        double k, v;
        int states, unbounded; /* states: bit 0: o, bit 1: ht */
    } far[] = {
        { "variant=deltanet feature=silu scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1", 16000, 0x1p-13, 3, 0 },
        { "variant=deltanet feature=silu scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1", 20000, 0x1p-13, 3, 1 },
        { "variant=linear mask=causal feature=silu scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1", 16000, 0x1p-13, 3, 0 },
        { "variant=linear mask=causal feature=silu scale=1 in=f16 out=f32 n=2 m=2 d=1 e=1", 20000, 0x1p-13, 3, 1 },
        { "variant=deltanet scale=16000 in=f16 out=f32 n=2 m=2 d=1 e=1", 1, 0x1p-13, 1, 0 },
        { "variant=deltanet scale=20000 in=f16 out=f32 n=2 m=2 d=1 e=1", 1, 0x1p-13, 1, 1 },
        { "variant=deltanet scale=1 p=f16 n=2 m=2 d=1 e=1", 16000, 0x1p-13, 1, 0 },
        { "variant=deltanet scale=1 p=f16 n=2 m=2 d=1 e=1", 20000, 0x1p-13, 1, 1 },
        { "variant=deltanet scale=1 p=bf16 n=2 m=2 d=1 e=1", 20000, 0x1p-13, 1, 0 },
    };
    const attest_numerics unknown = { .schedule = 0 };
    for (size_t k = 0; k < sizeof far / sizeof far[0]; k++)
        for (int state = 0; state < 2; state++)
            if (far[k].states >> state & 1)
                must_be(far[k].line, &unknown, far[k].k, far[k].v, 1, state, far[k].unbounded);
}
END_TEST

/* R-ROOT: the sum of squares has the accumulator's range, above and below. */
START_TEST(squares_overflow)
{
    const char *line = "variant=rmsnorm scale=1 n=2 m=2 d=1 e=1";
    const attest_numerics f16 = { .schedule = ATTEST_SCHEDULE_DIRECT, .value_acc = 1 + ATTEST_F16 };
    const attest_numerics f32 = { .schedule = ATTEST_SCHEDULE_DIRECT };
    must_be(line, &f16, 0, 40, 1, 0, 0);
    must_be(line, &f16, 0, 100, 1, 0, 1);
    must_be(line, &f32, 0, 100, 1, 0, 0);
    must_be(line, &f16, 0, 0.25, 1, 0, 1);
    must_be(line, &f32, 0, 0.25, 1, 0, 0);
}
END_TEST

/* The bound of channel 0 of the last row's o, of a kernel in chunks that stores such a type; `first` is v of token 0,
 * the others' 2^-10, decays 2^-8, q = k = (1, 0); first below 0: drawn. */
static double chunk_bound(const char *line, uint32_t type, double first)
{
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    const attest_numerics n = { .schedule = ATTEST_SCHEDULE_CHUNK,
                                .scaled_dtype = 1 + type,
                                .decay_products = ATTEST_YES };
    ball_case x;
    ref_bound bound[8];
    ball_case_start(&x, line, first < 0);
    const attest_problem *p = &x.c.problem;
    for (int64_t t = 0; first >= 0 && t < p->n; t++) {
        ball_case_put(&x, ATTEST_Q, 0, 0, t, 0, 1);
        ball_case_put(&x, ATTEST_K, 0, 0, t, 0, 1);
        ball_case_put(&x, ATTEST_V, 0, 0, t, 0, t ? 0x1p-10 : first);
        ball_case_put(&x, ATTEST_BETA, 0, 0, t, 0, 1);
        if (x.in.role[ATTEST_DECAY])
            ball_case_put(&x, ATTEST_DECAY, 0, 0, t, 0, 0x1p-8);
    }
    ball_case_row(&x, 0, 0, p->n - 1, 256);
    for (int64_t c = 0; c < p->e; c++)
        ref_bound_init(bound + c);
    MUST(ref_bound_row(bound, &x.row, &x.in, &n, 0, o, ATTEST_F32, (attest_row){ 0, 0, p->n - 1 }, &x.err), &x);
    const double total = value_of(bound[0].total);
    ck_assert(!bound[0].unbounded);
    for (int64_t c = 0; c < p->e; c++)
        ref_bound_clear(bound + c);
    ball_case_stop(&x);
    return total;
}

/* R-DELTA: of usual numbers f16's roundings are felt, not what it loses; no chunk feels what one before it wrote. */
START_TEST(stored_delta_is_not_wide)
{
    const char *usual = "variant=gdn in=f16 out=f32 n=64 m=64 d=32 e=2 chunk=16";
    const char *far = "variant=gdn scale=1 in=f16 out=f32 n=16 m=16 d=2 e=1 chunk=4";
    const double f16 = chunk_bound(usual, ATTEST_F16, -1), bf16 = chunk_bound(usual, ATTEST_BF16, -1);
    ck_assert_msg(f16 < bf16 / 4, "%s: f16 %g, bf16 %g", usual, f16, bf16);
    const double none = chunk_bound(far, ATTEST_F16, 0), large = chunk_bound(far, ATTEST_F16, 1024);
    ck_assert_msg(large < 1.001 * none, "%s: %g, after a large value %g", far, none, large);
    const char *casts[] = { "variant=gdn scale=1 p=bf16 n=16 m=16 d=2 e=1 chunk=4",
                            "variant=gdn scale=1 p=bf16 n=4 m=4 d=2 e=1 chunk=4",
                            "variant=deltanet scale=1 p=bf16 n=16 m=16 d=1 e=1 chunk=4" };
    for (int k = 0; k < 3; k++) {
        const double little = chunk_bound(casts[k], ATTEST_F32, 0), much = chunk_bound(casts[k], ATTEST_F32, 1);
        ck_assert_msg(much < 1.5 * little + 0x1p-22, "%s: %g, after a large value %g", casts[k], little, much);
    }
}
END_TEST

/* R-MERGE: a stored quotient is one more factor of the sums, and an error of v; of parts alone. */
START_TEST(stored_parts)
{
    static const struct {
        uint32_t schedule, state;
        int stores;
    } parts[] = {
        { ATTEST_SCHEDULE_SPLIT, 1 + ATTEST_BF16, 1 },    { ATTEST_SCHEDULE_SPLIT, 1 + ATTEST_F32, 0 },
        { ATTEST_SCHEDULE_UNKNOWN, 1 + ATTEST_BF16, 1 },  { ATTEST_SCHEDULE_UNKNOWN, 0, 0 },
        { ATTEST_SCHEDULE_TWO_PASS, 1 + ATTEST_BF16, 0 }, { ATTEST_SCHEDULE_ONLINE, 1 + ATTEST_BF16, 0 },
    };
    const char *line = "variant=softmax n=1 m=3 d=2 e=1 scale=0.5 splits=2";
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        attest_numerics n = { .schedule = parts[k].schedule };
        const double u = parts[k].stores ? 0x1p-8 : 0;
        row_case before, r;
        row_start(&before, line, &n, 0, 1);
        n.state_dtype = parts[k].state;
        row_start(&r, line, &n, 0, 1);
        ck_assert_int_eq(r.m.stores_parts, parts[k].stores);
        is(line, "gamma", r.w.gamma_sum, both(value_of(before.w.gamma_sum), u));
        is(line, "v", r.w.value_tiny, value_of(before.w.value_tiny) + (u > 0 ? 0x1p-134 : 0));
        row_stop(&before);
        row_stop(&r);
    }
}
END_TEST

/* R-GATE: a stored gin v is one more factor of the sums, and an error of v; undeclared, of the type of the inputs. */
START_TEST(stored_gated)
{
    static const struct {
        const char *line;
        uint32_t schedule, scaled;
        int stores;
    } gates[] = {
        { "variant=softmax gates=in n=1 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_TWO_PASS, 1 + ATTEST_BF16, 1 },
        { "variant=softmax gates=in n=1 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_TWO_PASS, 1 + ATTEST_F32, 0 },
        { "variant=softmax gates=in in=bf16 out=f32 n=1 m=3 d=2 e=1", ATTEST_SCHEDULE_UNKNOWN, 0, 1 },
        { "variant=softmax gates=in in=bf16 out=f32 n=1 m=3 d=2 e=1", ATTEST_SCHEDULE_ONLINE, 0, 0 },
        { "variant=softmax gates=out n=1 m=3 d=2 e=1 scale=0.5", ATTEST_SCHEDULE_TWO_PASS, 1 + ATTEST_BF16, 0 },
    };
    for (size_t k = 0; k < sizeof gates / sizeof gates[0]; k++) {
        const attest_numerics n = { .schedule = gates[k].schedule, .scaled_dtype = gates[k].scaled };
        const double gate = strstr(gates[k].line, "gates=in") ? U : 0;
        row_case r;
        row_start(&r, gates[k].line, &n, 0, 1);
        is(gates[k].line, "gate", r.w.gate_value, both(gate, gates[k].stores ? 0x1p-8 : 0));
        is(gates[k].line, "v", r.w.value_tiny, gates[k].stores ? 0x1p-134 : 0);
        row_stop(&r);
    }
}
END_TEST

/* What comes near the largest number of f16 has no bound. */
START_TEST(stored_parts_overflow)
{
    for (int far = 0; far < 2; far++) {
        const attest_numerics n = { .schedule = ATTEST_SCHEDULE_SPLIT, .state_dtype = 1 + ATTEST_F16 };
        ball_case x;
        ref_bound bound;
        ball_case_start(&x, "variant=softmax n=1 m=1 d=1 e=1 splits=2", 0);
        ball_case_put(&x, ATTEST_V, 0, 0, 0, 0, far ? 0x1.1p14 : 0x1.fp13);
        ball_case_row(&x, 0, 0, 0, 128);
        ref_bound_init(&bound);
        MUST(ref_bound_row(&bound, &x.row, &x.in, &n, 0, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, ATTEST_F32,
                           (attest_row){ 0, 0, 0 }, &x.err),
             &x);
        ck_assert_int_eq(bound.unbounded, far);
        ref_bound_clear(&bound);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_bound_stored(void)
{
    Suite *s = suite_create("bound_stored");
    TCase *t = tcase_create("bound_stored");
    tcase_add_test(t, stored_features);
    tcase_add_test(t, stored_features_overflow);
    tcase_add_test(t, stored_again);
    tcase_add_test(t, stored_decayed);
    tcase_add_test(t, stored_decayed_twice);
    tcase_add_test(t, stored_decayed_overflow);
    tcase_add_test(t, stored_written_overflow);
    tcase_add_test(t, stored_overflow);
    tcase_add_test(t, squares_overflow);
    tcase_add_test(t, stored_delta_is_not_wide);
    tcase_add_test(t, stored_parts);
    tcase_add_test(t, stored_parts_overflow);
    tcase_add_test(t, stored_gated);
    suite_add_tcase(s, t);
    return s;
}

/* test_bound_stored.c - features, turned numbers, gated values and quotients of parts that are rounded to a narrow type
 * before they are read: the constants of a model against R-FEATURE, R-GATE and R-MERGE, and what overflows. */
#include <string.h>

#include "tests/reference/bound/bound_row.h"

Suite *suite_bound_stored(void);

/* Features and turned numbers that are rounded to the type of scaled ones, F and t with and without. */
static const struct {
    const char *line;
    double scaled, turned; /* u_q that is left for the scale, between rope and a feature */
    int stores;
} stored[] = {
    { "variant=linear in=bf16 n=1 m=3 d=2 e=1 scale=0.3", 0x1p-8, 0, 0 },
    { "variant=linear feature=relu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 0, 0 },
    { "variant=linear feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=0.3", 0x1p-8, 0, 1 },
    { "variant=linear feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 0, 1 },
    { "variant=linear rope=16 in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 0, 1 },
    { "variant=linear rope=16 feature=silu in=bf16 n=1 m=3 d=2 e=1 scale=1", 0, 0x1p-8, 1 },
    { "variant=gla feature=silu in=bf16 n=3 m=3 d=2 e=1 scale=1", 0x1p-8, 0, 1 },
};

START_TEST(stored_features)
{
    for (size_t k = 0; k < sizeof stored / sizeof stored[0]; k++) {
        attest_numerics n = { .schedule = ATTEST_SCHEDULE_DIRECT };
        const double turned = stored[k].turned > 0 ? 2 : 0, u = stored[k].stores ? 0x1p-8 : 0, tiny = 0x1p-134;
        ball_case x;
        bound_model before, m;
        ball_case_start(&x, stored[k].line, 0);
        bound_model_init(&before);
        bound_model_init(&m);
        ck_assert(bound_model_set(&before, &x.in, &n, 0));
        n.scaled_dtype = 1 + ATTEST_BF16;
        ck_assert(bound_model_set(&m, &x.in, &n, 0));
        const double f = value_of(before.feature), t = value_of(before.feature_tiny);
        ck_assert_int_eq(m.stores_features, stored[k].stores);
        is(stored[k].line, "F", m.feature, f + u + f * u);
        is(stored[k].line, "t", m.feature_tiny, u > 0 ? t + t * u + (1 + turned) * tiny : t);
        is(stored[k].line, "scaled", m.scaled, stored[k].scaled);
        is(stored[k].line, "turned", m.turned, stored[k].turned);
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
    for (int rope = 0; rope < 2; rope++) {
        row_case r;
        row_open(&r,
                 rope ? "variant=linear rope=16 in=f16 n=1 m=1 d=2 e=1 scale=0.25"
                      : "variant=linear in=f16 n=1 m=1 d=2 e=1 scale=0.25",
                 40000, 1);
        row_ready(&r, &n, 0, 1);
        ck_assert_int_eq(r.w.overflow, rope);
        row_stop(&r);
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
    tcase_add_test(t, stored_parts);
    tcase_add_test(t, stored_parts_overflow);
    tcase_add_test(t, stored_gated);
    suite_add_tcase(s, t);
    return s;
}

/* test_props_powers.c - props/properties/property_powers.c, props/properties/range.h: powers of two and signs. */
#include "tests/props/properties/props_ask.h"

#include "kernels/attest_float.h"
#include "props/properties/range.h"

Suite *suite_props_powers(void);

static const char *const names[] = { "value-scaling", "value-sign", "key-query-scaling", "scale-folding",
                                     "term-homogeneity" };
enum { NAMES = sizeof names / sizeof names[0] };

static const char *const lines[] = {
    "n=9 d=4 hq=2 hkv=1",
    "variant=softmax1 mask=causal n=33 d=3 e=5 in=bf16 p=bf16",
    "n=7 d=2 in=f64 mask=causal-br",
    "variant=l2norm n=8 d=4 e=3",
    "variant=rmsnorm mask=causal n=9 d=2 e=4 affine=draw",
    "n=40 d=8 splits=3 in=f16",
    "n=12 d=2 feature=relu cap=3 alibi=draw mask=causal",
    "n=5 d=3 feature=unit lens=draw b=2",
    "n=6 d=2 rope=100",
    "variant=linear mask=causal n=17 d=3 chunk=4",
    "variant=linear norm=sum n=9 d=2 e=3",
    "variant=linear norm=rms mask=causal n=9 d=2 e=3",
    "variant=linear norm=length mask=causal n=9 d=2 e=3",
    "variant=linear state=draw mask=causal n=6 d=2",
    "variant=taylor:2 mask=causal n=9 d=2 state=draw",
    "variant=taylor:3 n=9 d=2",
    "variant=term:2 n=9 d=2 e=3 scale=-0.75",
    "variant=term:3 mask=causal n=6 d=2 norm=sum",
    "variant=retnet n=8 d=2 e=3",
    "variant=gla n=8 d=2",
    "variant=cosformer mask=causal n=6 d=3",
    "variant=deltanet mask=causal n=9 d=3 chunk=4 feature=unit",
    "variant=gdn mask=causal n=6 d=2 state=draw",
    "variant=gated-softmax n=9 d=2",
    "variant=sla-gdn mask=causal n=6 d=2 hq=2 hkv=2",
    /* sums of keys that are 0 */
    "variant=linear norm=sum mask=causal feature=unit n=17 d=1 e=2",
    "variant=linear feature=unit state=draw mask=causal n=6 d=2",
    "n=5 d=3 feature=unit seed=1",
    "n=5 d=3 feature=unit seed=2",
    "n=5 d=3 feature=unit seed=3",
    "n=5 d=3 feature=unit seed=4",
    "variant=linear gates=pre-out norm=length n=5 d=2",
    "n=9 d=4 clamp=1 scale=2",
    "variant=quadratic n=9 d=4 norm=sum",
};
enum { LINES = sizeof lines / sizeof lines[0] };

START_TEST(hold) { check_lines_hold(names[_i], lines, LINES, 3000); }
END_TEST

START_TEST(see_their_violations) { check_lines_violated(names[_i], lines, LINES, 15); }
END_TEST

static const char *const cached[] = {
    "kv=e5m2 n=5 m=9 d=2 hq=2",
    "kv=e4m3 n=5 m=9 d=2 hq=2 seed=1",
    "kv=e4m3 n=5 m=9 d=2 hq=2 family=dyadic",
    "kv=e5m2 b=2 n=5 m=9 d=2 in=bf16 mask=causal-br pages=4 splits=2",
    "variant=taylor:2 kv=e5m2 n=5 d=2 splits=2",
    "variant=gla kv=e5m2 n=5 d=2 chunk=2",
    "kv=f16 n=5 d=2",
};
enum { CACHED = sizeof cached / sizeof cached[0] };

START_TEST(scales_hold) { check_lines_hold("cache-scales", cached, CACHED, 400); }
END_TEST

START_TEST(scales_see_their_violation) { check_lines_violated("cache-scales", cached, CACHED, 5); }
END_TEST

START_TEST(bounds_without_flags)
{
    const question asked_of[] = { { names[_i], "softmax-online-f32", "n=5 d=2 e=2" },
                                  { names[_i], "taylor-recurrent-f32", "variant=term:2 mask=causal n=5 d=2 e=2" },
                                  { names[_i], "taylor-direct-f32", "variant=term:2 norm=sum n=5 d=2 e=2" } };
    int64_t compared = 0;
    for (int k = 0; k < 3; k++)
        compared += check_bounds_alone(&asked_of[k], ATTEST_DETERMINISTIC);
    ck_assert_msg(strcmp(names[_i], "value-sign") == 0 ? compared == 0 : compared > 0, "%s", names[_i]);
}
END_TEST

/* o = 2^-14 (1 - 2^-11) is rounded to 2^-14, up from the subnormal numbers of f16; twice it is no number of f16 that
 * needs rounding. */
START_TEST(rounded_up_to_the_least_normal)
{
    asked *a = asked_open(NULL, 1);
    static const struct {
        attest_role role;
        double value;
    } set[] = { { ATTEST_Q, 1 - 0x1p-11 }, { ATTEST_K, 1 }, { ATTEST_V, 0x1p-14 } };
    attest_bundle *inputs = NULL;
    attest_error err = { "" };
    attest_case c;
    int64_t compared[2];
    asked_choose(a, "linear-recurrent-f32");
    ck_assert_int_eq(attest_case_parse(&c, "variant=linear mask=causal n=1 d=1 e=1 scale=1 in=f16", NULL, NULL, &err),
                     ATTEST_OK);
    for (int twice = 0; twice < 2; twice++) {
        ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
        ck_assert_int_eq(attest_draw_missing(inputs, &c, 0, 0, &err), ATTEST_OK);
        for (int r = 0; r < 3; r++) {
            const attest_tensor *t = attest_bundle_role(inputs, set[r].role);
            const double value = set[r].value * (twice && set[r].role == ATTEST_V ? 2 : 1);
            attest_store_bits(t, 0, attest_from_f64(t->dtype, value));
        }
        const attest_finding found = asked_inputs(a, "value-scaling", &c, 0, inputs, 0);
        ck_assert_msg(!found.broken, "%s", found.what);
        compared[twice] = found.compared;
        attest_bundle_free(inputs);
    }
    ck_assert(compared[0] < compared[1]);
    asked_close(a);
}
END_TEST

/* What is not exact in its type is left out, not failed: bf16 keeps powers of two, f16 loses the small ones. */
START_TEST(inexact_says_nothing)
{
    asked *a = asked_open(NULL, 0);
    const char *small[] = { "n=4 d=2 in=f16 family=normal:1e-5", "n=4 d=2 in=bf16 family=normal:1e-5" };
    asked_choose(a, "softmax-two-pass-f32");
    ck_assert_int_eq(asked_once(a, "key-query-scaling", small[0], 0).compared, 0);
    ck_assert_int_gt(asked_once(a, "key-query-scaling", small[1], 0).compared, 0);
    asked_close(a);
}
END_TEST

/* A kernel may find its largest score before it multiplies by a positive scale, and after it by a negative one. */
START_TEST(no_bits_across_signs)
{
    asked *a = asked_open(NULL, 0);
    asked_choose(a, "softmax-two-pass-f32");
    ck_assert_int_eq(asked_once(a, "scale-folding", "n=4 d=2 feature=unit", 0).compared, 0);
    ck_assert_int_gt(asked_once(a, "scale-folding", "n=4 d=2 feature=relu", 0).compared, 0);
    asked_close(a);
}
END_TEST

static const about_line about[] = {
    { "value-scaling", "variant=l2norm n=3 d=2 eps=0.5", 0 },
    { "value-scaling", "n=3 d=2 eps=0.5", 1 },
    { "value-sign", "variant=rmsnorm n=3 d=2 affine=draw", 0 },
    { "value-sign", "variant=rmsnorm n=3 d=2", 1 },
    { "cache-scales", "kv=bf16 n=3 d=2", 0 },
    { "cache-scales", "kv=e4m3 n=3 d=2", 1 },
    { "monotone", "kv=e4m3 n=3 d=2", 0 },
    { "key-query-scaling", "n=3 d=2 feature=silu", 0 },
    { "key-query-scaling", "n=3 d=2 feature=elu1", 0 },
    { "key-query-scaling", "variant=deltanet n=3 d=2", 0 },
    { "key-query-scaling", "variant=efla n=3 d=2 feature=unit", 1 },
    { "scale-folding", "n=3 d=2 scale=0", 0 },
    { "scale-folding", "n=3 d=2 feature=silu-unit", 0 },
    { "scale-folding", "n=3 d=2 feature=unit", 1 },
    { "scale-folding", "n=3 d=2 feature=relu", 1 },
    { "term-homogeneity", "variant=taylor:2 n=3 d=2", 0 },
    { "term-homogeneity", "variant=term:2 n=3 d=2 cap=1", 0 },
    { "term-homogeneity", "variant=linear norm=sum eps=1 n=3", 0 },
    { "term-homogeneity", "variant=linear norm=sink n=3", 0 },
    { "term-homogeneity", "variant=linear norm=floor:1 n=3", 0 },
    { "term-homogeneity", "variant=deltanet n=3 d=2", 1 },
};

START_TEST(variants) { check_about(&about[_i]); }
END_TEST

/* Planted defects, each found by the property that it breaks. */
static const question found_in[] = {
    { "scale-folding", "scale-missing", "n=5 d=4" },
    { "scale-folding", "scale-assumed", "n=5 d=4" },
    { "scale-folding", "scale-inverse", "n=5 d=4 feature=relu" },
    { "cache-scales", "kv-scale-near-one", "kv=e5m2 b=8 hq=2 n=3 d=2" },
};

START_TEST(defects) { check_seen_by_bits(&found_in[_i]); }
END_TEST

/* ---- range.h ----------------------------------------------------------------------------------------------------- */

static int safe(const char *line, const attest_prop_kernel *kernel, double margin)
{
    attest_trial trial = { .kernel = *kernel };
    attest_bundle *inputs = NULL;
    attest_error err;
    ck_assert_msg(attest_case_parse(&trial.c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
    ck_assert_int_eq(attest_draw_missing(inputs, &trial.c, 0, 0, &err), ATTEST_OK);
    trial.inputs = inputs;
    const int answer = attest_range_safe(&trial, margin);
    attest_bundle_free(inputs);
    return answer;
}

static const struct {
    const char *line;
    int safe;
} ranges[] = {
    { "n=8 d=4", 1 },
    { "n=8 d=4 scale=9", 0 },              /* weights down to e^-300 */
    { "n=8 d=4 scale=9 cap=2", 1 },        /* scores end at 2 */
    { "n=8 d=4 scale=9 feature=unit", 1 }, /* scores end at 9 */
    { "n=8 d=4 scale=9 in=f64", 1 },
    { "n=8 d=4 family=subnormal", 0 },
    { "n=300 d=2 alibi=draw hq=8", 0 }, /* 600 tokens away */
    { "n=300 d=2 alibi=usual hq=8", 0 },
    { "variant=linear n=8 d=4", 1 },
    { "variant=linear n=8 d=4 in=bf16", 1 },
    { "variant=linear n=8 d=4 scale=1e20", 1 },
    { "variant=linear n=8 d=4 scale=1e36", 0 },     /* beyond 2^127 */
    { "variant=linear weight=power:3 n=8 d=4", 0 }, /* powers of scores that cancel */
    { "variant=quadratic n=8 d=4 in=bf16", 1 },
    { "variant=taylor:9 n=8 d=4", 1 }, /* 1 + .. */
    { "variant=taylor:2 n=8 d=4 bias=full", 1 },
    { "variant=taylor:14 n=9 d=4 bias=full family=edges", 0 }, /* 1024^14 */
    { "variant=quadratic n=8 d=4 in=bf16 bias=full", 0 },      /* the bias may cancel the product */
    { "variant=simple-gla n=8 d=2", 1 },
    { "variant=simple-gla n=99 d=2", 0 }, /* 99 decays uniform in (0,1) */
    { "variant=gla n=99 d=2", 0 },
    { "variant=retnet n=99 d=2", 1 },
    { "variant=layernorm n=8 d=4 scale=2", 0 }, /* squares */
    { "variant=l2norm n=8 d=4 scale=0.125", 1 },
};

START_TEST(range)
{
    const attest_prop_kernel kernel = { .form = ATTEST_PARALLEL };
    ck_assert_msg(safe(ranges[_i].line, &kernel, 6) == ranges[_i].safe, "%s", ranges[_i].line);
}
END_TEST

START_TEST(range_of_kernels)
{
    const attest_prop_kernel direct = { .form = ATTEST_PARALLEL }, coarse = { .numerics.acc_unit = 0x1p-11 };
    const attest_prop_kernel silent = { .form = ATTEST_RECURRENT };
    const attest_prop_kernel states = { .form = ATTEST_RECURRENT, .numerics.state_dtype = 1 + ATTEST_F32 };
    const attest_prop_kernel wide = { .form = ATTEST_RECURRENT, .numerics.state_dtype = 1 + ATTEST_BF16 };
    ck_assert(safe("n=8 d=4", &direct, 6) && !safe("n=8 d=4", &direct, 112));
    ck_assert(!safe("n=8 d=4", &coarse, 6));
    const attest_prop_kernel narrow[] = {
        { .form = ATTEST_PARALLEL, .numerics = { .value_unit = 0x1p-11, .value_acc = 1 + ATTEST_F16 } },
        { .form = ATTEST_PARALLEL, .numerics = { .score_unit = 0x1p-11, .score_acc = 1 + ATTEST_F16 } },
        { .form = ATTEST_PARALLEL, .numerics.value_unit = 0x1p-10 },
        { .form = ATTEST_PARALLEL, .numerics.score_dtype = 1 + ATTEST_F16 },
        { .form = ATTEST_PARALLEL, .numerics.scaled_dtype = 1 + ATTEST_F16 },
        { .form = ATTEST_SPLIT, .numerics.state_dtype = 1 + ATTEST_F16 },
    };
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
        ck_assert_msg(!safe("n=8 d=4", &narrow[i], 6), "narrow[%zu]", i);
    ck_assert(!safe("variant=linear n=8 d=4", &silent, 6));
    ck_assert(safe("variant=linear n=8 d=4", &states, 6) && safe("variant=linear n=8 d=4", &wide, 6));
    ck_assert(safe("variant=linear weight=power:3 n=8 d=4", &states, 6)); /* monomials do not cancel */
    ck_assert(!safe("variant=linear state=draw mask=causal n=8 d=4 scale=1e-36", &states, 6));
}
END_TEST

/* Every feature has a row, or properties of powers of two would say nothing of it; one that has none is not safe. */
START_TEST(range_of_features)
{
    const attest_prop_kernel kernel = { .form = ATTEST_PARALLEL };
    const attest_axis_info *axis = &attest_axes[ATTEST_AXIS_FEATURE];
    char line[64];
    for (size_t k = 0; k < axis->value_count; k++) {
        snprintf(line, sizeof line, "n=8 d=4 feature=%s", axis->values[k].name);
        ck_assert_msg(safe(line, &kernel, 6), "%s: no row in props/properties/range.c, or one that is never safe",
                      axis->values[k].name);
    }
    attest_trial trial = { .kernel = kernel };
    attest_bundle *inputs = NULL;
    attest_error err;
    ck_assert_int_eq(attest_case_parse(&trial.c, "n=8 d=4", NULL, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
    ck_assert_int_eq(attest_draw_missing(inputs, &trial.c, 0, 0, &err), ATTEST_OK);
    trial.inputs = inputs;
    trial.c.problem.axis[ATTEST_AXIS_FEATURE].value = 31;
    ck_assert(!attest_range_safe(&trial, 6) && !attest_range_finite(&trial, 4));
    attest_bundle_free(inputs);
}
END_TEST

Suite *suite_props_powers(void)
{
    Suite *suite = suite_create("props_powers");
    TCase *c = tcase_create("props_powers");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, hold, 0, NAMES);
    tcase_add_test(c, scales_hold);
    tcase_add_test(c, scales_see_their_violation);
    tcase_add_loop_test(c, see_their_violations, 0, NAMES);
    tcase_add_loop_test(c, bounds_without_flags, 0, NAMES);
    tcase_add_test(c, rounded_up_to_the_least_normal);
    tcase_add_test(c, inexact_says_nothing);
    tcase_add_test(c, no_bits_across_signs);
    tcase_add_loop_test(c, variants, 0, sizeof about / sizeof about[0]);
    tcase_add_loop_test(c, defects, 0, sizeof found_in / sizeof found_in[0]);
    tcase_add_loop_test(c, range, 0, sizeof ranges / sizeof ranges[0]);
    tcase_add_test(c, range_of_kernels);
    tcase_add_test(c, range_of_features);
    suite_add_tcase(suite, c);
    return suite;
}

/* test_power.c - could a case have told? Figures against sums written out here, and the verdicts that follow. */
#include "tests/verify/compare/compare_scene.h"

Suite *suite_power(void);

static double at(const scene *s, attest_role role, int64_t h, int64_t i, int64_t c)
{
    const attest_tensor *t = attest_bundle_role(s->inputs, role);
    return attest_load(t, attest_offset(t, 0, h, i, c));
}

/* e^s of query i of head h (one KV head a query head) and key j, causal. */
static double weight(const scene *s, int64_t h, int64_t i, int64_t j)
{
    double dot = 0;
    for (int64_t c = 0; c < s->c.problem.d; c++)
        dot += at(s, ATTEST_Q, h, i, c) * at(s, ATTEST_K, h, j, c);
    return exp(s->c.problem.scale * dot);
}

/* o with the v of head `of`, without key `lost` (-1: with all). */
static double softmax(const scene *s, int64_t h, int64_t i, int64_t c, int64_t of, int64_t lost)
{
    double u = 0, z = 0;
    for (int64_t j = 0; j <= i; j++) {
        const double w = j == lost ? 0 : weight(s, h, i, j);
        u += w * at(s, ATTEST_V, of, j, c);
        z += w;
    }
    return u / z;
}

static void near(const char *what, double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-12, "%s: %g, not %g", what, got, want);
}

START_TEST(test_wrong_answers)
{
    enum { N = 6, E = 3, H = 2 };
    scene s;
    attest_error err = { "" };
    double distance[ATTEST_WRONG_COUNT * E], bound[E] = { 0.05, 0.05, 0.05 };
    open_scene(&s, "variant=softmax mask=causal hq=2 n=6 d=4 e=3", NULL);
    for (int64_t h = 0; h < H; h++)
        for (int64_t i = 0; i < N; i++) {
            unsigned char keys[N] = { 0 };
            ok(attest_judge_wrong(distance, keys, s.truth, bound, (attest_row){ 0, h, i }, &err), &err);
            for (int64_t c = 0; c < E; c++) {
                const double o = softmax(&s, h, i, c, h, -1);
                double mean = 0;
                for (int64_t j = 0; j <= i; j++)
                    mean += at(&s, ATTEST_V, h, j, c) / (double)(i + 1);
                near("zeros", distance[ATTEST_WRONG_ZEROS * E + c], fabs(o) / 2);
                near("head", distance[ATTEST_WRONG_HEAD * E + c], fabs(softmax(&s, h, i, c, 1 - h, -1) - o));
                if (i > 0) {
                    near("mean", distance[ATTEST_WRONG_MEAN * E + c], fabs(mean - o));
                    near("last", distance[ATTEST_WRONG_LAST * E + c], fabs(at(&s, ATTEST_V, h, i, c) - o));
                } else {
                    ck_assert(isnan(distance[ATTEST_WRONG_MEAN * E + c]) && isnan(distance[ATTEST_WRONG_LAST * E + c]));
                }
            }
            for (int64_t j = 0; j < N; j++) {
                double most = 0;
                for (int64_t c = 0; c < E && j <= i; c++) /* the only key lost: an empty row */
                    most = fmax(most, fabs((i ? softmax(&s, h, i, c, h, j) : 0) - softmax(&s, h, i, c, h, -1)));
                const int want = j > i ? 0 : most > 0.05 ? ATTEST_KEY_SEEN : ATTEST_KEY_VISIBLE;
                ck_assert_msg(keys[j] == want, "row %d key %d: %d, not %d (%g)", (int)i, (int)j, keys[j], want, most);
            }
        }
    close_scene(&s);
}
END_TEST

/* Norms that are no quotient: key j changes o by gout w_j v_j; the delta rule has no weights. */
START_TEST(test_other_norms)
{
    scene s;
    attest_error err = { "" };
    double distance[ATTEST_WRONG_COUNT * 2];
    const double bound[2] = { 0.3, 0.3 };
    open_scene(&s, "variant=linear norm=none mask=causal n=5 d=3 e=2", NULL);
    unsigned char keys[5] = { 0 };
    ok(attest_judge_wrong(distance, keys, s.truth, bound, (attest_row){ 0, 0, 4 }, &err), &err);
    int seen = 0;
    for (int64_t j = 0; j < 5; j++) {
        double dot = 0, most = 0;
        for (int64_t c = 0; c < 3; c++)
            dot += at(&s, ATTEST_Q, 0, 4, c) * at(&s, ATTEST_K, 0, j, c) * s.c.problem.scale;
        for (int64_t c = 0; c < 2; c++)
            most = fmax(most, fabs(dot * at(&s, ATTEST_V, 0, j, c)));
        ck_assert_msg((keys[j] == ATTEST_KEY_SEEN) == (most > 0.3), "key %d: %d, %g", (int)j, keys[j], most);
        seen += keys[j] == ATTEST_KEY_SEEN;
    }
    ck_assert_msg(seen > 0 && seen < 5, "%d", seen);
    close_scene(&s);
    const double nothing[2] = { 0, 0 };
    unsigned char kept[9] = { 0 };
    open_scene(&s, "variant=filtered:0.3 n=9 d=3 e=2", NULL); /* a key that the filter drops has nothing to lose */
    ok(attest_judge_wrong(distance, kept, s.truth, nothing, (attest_row){ 0, 0, 8 }, &err), &err);
    for (int64_t j = 0, count = 0; j < 9; j++) {
        count += kept[j] != 0;
        ck_assert(kept[j] != ATTEST_KEY_VISIBLE && (j < 8 || (count > 0 && count < 9)));
    }
    close_scene(&s);
    unsigned char none[5] = { 0 };
    open_scene(&s, "variant=deltanet n=5 d=3 e=2", NULL);
    ok(attest_judge_wrong(distance, none, s.truth, bound, (attest_row){ 0, 0, 4 }, &err), &err);
    ck_assert(!isnan(distance[0]) && isnan(distance[ATTEST_WRONG_HEAD * 2]));
    for (int64_t j = 0; j < 5; j++)
        ck_assert(none[j] == 0);
    close_scene(&s);
}
END_TEST

/* All elements tell, all keys are seen; `noticed` is the smallest bound/|o|: o off by a bit more fails. */
START_TEST(test_figures)
{
    scene s;
    open_scene(&s, "variant=softmax mask=causal n=9 d=4 e=3", NULL);
    attest_tensor *o = give(&s, O);
    judge(&s, NULL, 0, 0);
    expect(&s, "plain", ATTEST_PASS, 0);
    ck_assert(s.result.telling == 1 && s.result.keys_seen == 1 && s.result.rows_blind == 0);
    ck_assert_msg(s.result.noticed > 0 && s.result.noticed <= s.result.noticed_median && s.result.noticed_median < 0.5,
                  "%g %g", s.result.noticed, s.result.noticed_median);
    const double noticed = s.result.noticed;
    for (int more = 0; more < 2; more++) { /* all of o off by less, by more */
        give(&s, O);
        o = attest_bundle_get(s.outputs, O);
        for (int64_t i = 0; i < attest_tensor_count(o); i++)
            put(o, i, attest_load(o, i) * (1 + (more ? 1.5 : 0.4) * noticed));
        judge(&s, NULL, 0, 0);
        ck_assert_msg((s.result.verdict == ATTEST_FAIL) == more, "%d: %s", more, s.result.why);
    }
    close_scene(&s);
}
END_TEST

/* Bounds that let zeros pass: in some rows partial, in all of them no evidence, and never a pass. */
START_TEST(test_blind)
{
    const attest_numerics saturating = { .struct_size = sizeof saturating,
                                         .schedule = ATTEST_SCHEDULE_RECURRENT,
                                         .state_dtype = 1 + ATTEST_BF16 };
    scene s;
    open_scene(&s, "variant=linear mask=causal n=600 d=2 e=1 family=positive", NULL);
    give(&s, O);
    judge_declared(&s, NULL, &saturating, 0, 0);
    expect(&s, "states in bf16", ATTEST_PARTIAL, 0);
    ck_assert_msg(s.result.rows_blind > 0 && s.result.rows_blind < s.result.rows_judged, "%s", s.result.why);
    ck_assert_msg(strstr(s.result.why, "zeros would pass in ") != NULL, "%s", s.result.why);
    ck_assert(attest_result_left(&s.result) & ATTEST_LEFT_BLIND);
    close_scene(&s);
    open_scene(&s, "variant=softmax1 n=5 d=8 family=negative", NULL);
    attest_tensor *o = give(&s, O);
    for (int64_t i = 0; i < attest_tensor_count(o); i++)
        put(o, i, 0);
    judge(&s, NULL, 0, 0);
    expect(&s, "zeros inside their bounds", ATTEST_NO_EVIDENCE, 0);
    ck_assert(s.result.rows_blind == 5 && s.result.telling == 0);
    attest_result_allow(&s.result, "underflow");
    expect(&s, "allowed", ATTEST_SKIP, 0);
    close_scene(&s);
}
END_TEST

/* A right z does not vouch for an o that tells nothing; a few rows near 0 are chance. */
START_TEST(test_not_blind)
{
    scene s;
    open_scene(&s, "variant=linear-elu n=16 m=4096 d=4 e=2 in=bf16", NULL);
    give(&s, O);
    give(&s, Z);
    judge(&s, NULL, 0, 0);
    expect(&s, "z tells, o does not", ATTEST_NO_EVIDENCE, 0);
    close_scene(&s);
    s.result.noticed_median = 0;
    for (int64_t blind = 0; blind <= 43; blind++) {
        s.result.rows_judged = 43;
        s.result.rows_blind = blind;
        s.result.verdict = ATTEST_PARTIAL;
        ck_assert_int_eq(attest_result_is_blind(&s.result), blind > 5);
        ck_assert_int_eq((attest_result_left(&s.result) & ATTEST_LEFT_BLIND) != 0, blind > 5);
    }
    for (int wide = 0; wide < 2; wide++) { /* few rows, but half of the elements have a bound above half of them */
        s.result.rows_blind = 0;
        s.result.noticed_median = wide ? 0x1.01p-1 : 0.5;
        ck_assert_int_eq(attest_result_is_blind(&s.result), wide);
    }
}
END_TEST

/* One key outweighs the others by far: what its loss does is not a matter of rounding. */
START_TEST(test_outweighed)
{
    static const double scores[] = { 20, 45, 81 };
    for (size_t k = 0; k < 3; k++) {
        scene s;
        attest_error err = { "" };
        double distance[ATTEST_WRONG_COUNT];
        const double bound = 0.01;
        static const char line[] = "variant=softmax scale=1 n=1 m=2 d=1 e=1 in=f64";
        attest_case c;
        attest_bundle *inputs = NULL;
        ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
        ok(attest_bundle_new(&inputs, &err), &err);
        ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
        put(attest_bundle_role(inputs, ATTEST_Q), 0, 1);
        put(attest_bundle_role(inputs, ATTEST_K), 0, 0);
        put(attest_bundle_role(inputs, ATTEST_K), 1, scores[k]);
        for (int same = 0; same < 2; same++) { /* v = 1, 2; v = 2, 2: nothing is lost with either */
            unsigned char keys[2] = { 0 };
            put(attest_bundle_role(inputs, ATTEST_V), 0, same ? 2 : 1);
            put(attest_bundle_role(inputs, ATTEST_V), 1, 2);
            memset(&s, 0, sizeof s);
            s.c = c;
            ok(attest_truth_new(&s.truth, &s.c.problem, inputs, ATTEST_ENGINE_AUTO, &err), &err);
            ok(attest_judge_wrong(distance, keys, s.truth, &bound, (attest_row){ 0, 0, 0 }, &err), &err);
            ck_assert_msg(keys[0] == ATTEST_KEY_VISIBLE, "%g: %d", scores[k], keys[0]);
            ck_assert_msg(keys[1] == (same ? ATTEST_KEY_VISIBLE : ATTEST_KEY_SEEN), "%g: %d", scores[k], keys[1]);
            attest_truth_free(s.truth);
        }
        attest_bundle_free(inputs);
    }
}
END_TEST

Suite *suite_power(void)
{
    Suite *suite = suite_create("power");
    TCase *t = tcase_create("power");
    tcase_add_test(t, test_wrong_answers);
    tcase_add_test(t, test_other_norms);
    tcase_add_test(t, test_figures);
    tcase_add_test(t, test_blind);
    tcase_add_test(t, test_not_blind);
    tcase_add_test(t, test_outweighed);
    suite_add_tcase(suite, t);
    return suite;
}

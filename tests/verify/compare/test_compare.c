/* test_compare.c - verdicts on made-up outputs: the rounded truth passes, every way of being wrong is named. */
#include "tests/verify/compare/compare_scene.h"

Suite *suite_compare(void);

START_TEST(test_rounded_truth_passes)
{
    static const char *const lines[] = { "variant=softmax mask=causal hq=2 hkv=1 n=9 d=4 e=3",
                                         "variant=softmax n=9 d=4 in=bf16 p=bf16",
                                         "variant=softmax n=9 d=4 in=f64",
                                         "variant=taylor:2 mask=causal n=9 d=3",
                                         "variant=linear-elu n=9 d=4",
                                         "variant=softmax mask=causal n=9 d=4 family=flat",
                                         "variant=softmax1 hq=2 n=5 m=9 d=4" };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        scene s;
        open_scene(&s, lines[i], NULL);
        give(&s, O), give(&s, U), give(&s, Z);
        if (strstr(lines[i], "linear") == NULL)
            give(&s, LSE);
        judge(&s, NULL, 0, 0);
        const attest_result *r = &s.result;
        expect(&s, lines[i], ATTEST_PASS, 0);
        ck_assert_msg(r->ulp_lo >= 0 && r->ulp_hi <= 0.5 + 1e-9, "%s: %g ulp", lines[i], r->ulp_hi);
        ck_assert_msg(r->ratio_hi < 1 && r->u_ratio < 1 && r->z_ratio < 1, "%s: ratios %g %g %g", lines[i], r->ratio_hi,
                      r->u_ratio, r->z_ratio);
        ck_assert(r->abs_lo <= r->abs_hi && r->abs_hi <= r->bound && r->rounding >= r->abs_hi);
        ck_assert_msg(r->norm_error <= attest_unit_roundoff(s.c.problem.out), "%s: %g", lines[i], r->norm_error);
        ck_assert(r->abs_scale_ratio >= 0 && r->abs_scale_ratio <= 1.01 && fabs(r->bias) < 1);
        ck_assert(r->range >= 0 && r->abs_score >= r->range / 2 && r->bits >= ATTEST_PRECISION_START);
        ck_assert(r->rows_judged == r->rows_total && r->rows_total == s.c.problem.b * s.c.problem.hq * s.c.problem.n);
        ck_assert(r->engine[0] && r->worst[0] == 'o' && r->got[0] && strchr(r->truth, '('));
        ck_assert(isnan(r->truncation) && isnan(r->state_ratio) && r->why[0] == '\0');
        const double terms = r->term_score + r->term_exp + r->term_cast + r->term_accumulation + r->term_division;
        ck_assert_msg(terms > 0 && terms <= r->bound * (1 + 1e-6), "%s: terms %g, bound %g", lines[i], terms, r->bound);
        close_scene(&s);
    }
}
END_TEST

START_TEST(test_distance_from_truth)
{
    scene s;
    open_scene(&s, "variant=softmax mask=causal hq=2 n=5 d=4 e=3", NULL);
    attest_tensor *o = give(&s, O);
    const int64_t at = attest_offset(o, 0, 1, 3, 2);
    const double truth = attest_load(o, at);
    judge(&s, NULL, 0, 0);
    put(o, at, truth + 0x1p-10); /* far outside: now the worst element is this one and its bound is known */
    judge(&s, NULL, 0, 0);
    expect(&s, "far", ATTEST_FAIL, ATTEST_REASON_BOUND);
    ck_assert_str_eq(s.result.worst, "o[0,1,3,2]");
    ck_assert(s.result.abs_lo > 0x1p-10 * 0.999 && s.result.abs_hi < 0x1p-10 * 1.001);
    ck_assert(s.result.abs_lo <= s.result.abs_hi);
    ck_assert(s.result.ratio_lo > 1 && s.result.ratio_lo <= s.result.ratio_hi);
    ck_assert_msg(fabs(s.result.ratio_hi * s.result.bound - s.result.abs_hi) <= 1e-9 * s.result.abs_hi,
                  "ratio %g bound %g", s.result.ratio_hi, s.result.bound);
    ck_assert(strtod(s.result.got, NULL) == attest_load(o, at) && fabs(strtod(s.result.truth, NULL) - truth) < 1e-7);
    const double bound = s.result.bound;
    for (int side = -1; side <= 1; side += 2) {
        put(o, at, truth + side * 0.9 * bound);
        judge(&s, NULL, 0, 0);
        expect(&s, "0.9 bound", ATTEST_PASS, 0);
        ck_assert_str_eq(s.result.worst, "o[0,1,3,2]");
        put(o, at, truth + side * 1.5 * bound);
        judge(&s, NULL, 0, 0);
        expect(&s, "1.5 bound", ATTEST_FAIL, ATTEST_REASON_BOUND);
    }
    close_scene(&s);
}
END_TEST

START_TEST(test_wrong_values)
{
    static const struct {
        const char *what;
        double value;
        int64_t reasons;
    } cases[] = { { "NaN", NAN, ATTEST_REASON_BOUND | ATTEST_REASON_NAN_PATTERN },
                  { "Inf", INFINITY, ATTEST_REASON_BOUND },
                  { "-Inf", -INFINITY, ATTEST_REASON_BOUND },
                  { "1e30", 1e30, ATTEST_REASON_BOUND } };
    scene s;
    open_scene(&s, "variant=softmax n=5 d=4 e=3", NULL);
    attest_tensor *o = give(&s, O);
    const uint64_t kept[2] = { attest_load_bits(o, 4), attest_load_bits(o, 9) };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(o, 4, cases[i].value), put(o, 9, cases[i].value);
        judge(&s, NULL, 0, 1e6);
        expect(&s, cases[i].what, ATTEST_FAIL, cases[i].reasons | ATTEST_REASON_CLAIM);
        ck_assert(s.result.ulp_lo > 1e6 && s.result.ratio_lo > 1);
        if (!isfinite(cases[i].value) && isnan(cases[i].value)) {
            ck_assert_str_eq(s.result.worst, "o[0,0,1,1]"); /* of equals the first */
            ck_assert(isinf(s.result.norm_error) && isinf(s.result.ratio_hi) && isinf(s.result.ulp_hi));
            ck_assert(strstr(s.result.got, "nan") != NULL);
        }
    }
    attest_store_bits(o, 4, kept[0]), attest_store_bits(o, 9, kept[1]);
    for (int64_t c = 0; c < 3; c++) { /* two rows exchanged */
        const uint64_t a = attest_load_bits(o, 3 + c), b = attest_load_bits(o, 9 + c);
        attest_store_bits(o, 3 + c, b), attest_store_bits(o, 9 + c, a);
    }
    judge(&s, NULL, 0, 0);
    expect(&s, "rows exchanged", ATTEST_FAIL, ATTEST_REASON_BOUND);
    ck_assert(strncmp(s.result.worst, "o[0,0,1,", 8) == 0 || strncmp(s.result.worst, "o[0,0,3,", 8) == 0);
    close_scene(&s);
}
END_TEST

START_TEST(test_other_outputs)
{
    static const struct {
        attest_tensor_id id;
        int64_t reasons;
        const char *worst;
        size_t column;
    } cases[] = {
        { { ATTEST_KIND_ROLE, ATTEST_U }, ATTEST_REASON_BOUND, "u[0,0,1,1]", offsetof(attest_result, u_ratio) },
        { { ATTEST_KIND_ROLE, ATTEST_Z }, ATTEST_REASON_BOUND, "z[0,0,4]", offsetof(attest_result, z_ratio) },
        { { ATTEST_KIND_ROLE, ATTEST_LSE }, ATTEST_REASON_LSE, "lse[0,0,4]", offsetof(attest_result, lse_ratio) },
        { { ATTEST_KIND_HT, 1 }, ATTEST_REASON_STATE, "ht.1[0,0,1,1]", offsetof(attest_result, state_ratio) },
        { { ATTEST_KIND_ZT, 2 }, ATTEST_REASON_STATE, "zt.2[0,0,4]", offsetof(attest_result, state_ratio) },
    };
    scene s;
    double column;
    open_scene(&s, "variant=taylor:2 mask=causal n=5 d=3 e=3", NULL);
    give(&s, O);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_tensor *t = give(&s, cases[i].id);
        judge(&s, NULL, 0, 0);
        memcpy(&column, (const char *)&s.result + cases[i].column, sizeof column);
        expect(&s, cases[i].worst, ATTEST_PASS, 0);
        ck_assert_msg(column >= 0 && column < 1, "%s: %g", cases[i].worst, column);
        const uint64_t kept = attest_load_bits(t, 4);
        put(t, 4, attest_load(t, 4) + 1);
        judge(&s, NULL, 0, 0);
        memcpy(&column, (const char *)&s.result + cases[i].column, sizeof column);
        expect(&s, cases[i].worst, ATTEST_FAIL, cases[i].reasons);
        ck_assert_str_eq(s.result.worst, cases[i].worst);
        ck_assert_msg(column > 1 && s.result.ulp_hi <= 0.5 + 1e-9, "%s: %g", cases[i].worst, column);
        put(t, 4, NAN);
        judge(&s, NULL, 0, 0);
        expect(&s, cases[i].worst, ATTEST_FAIL, cases[i].reasons | ATTEST_REASON_NAN_PATTERN);
        attest_store_bits(t, 4, kept);
    }
    close_scene(&s);
}
END_TEST

START_TEST(test_claim)
{
    scene s;
    open_scene(&s, "variant=softmax n=9 d=4", NULL);
    attest_tensor *o = give(&s, O);
    attest_store_bits(o, 7, attest_load_bits(o, 7) + 8); /* eight ulps: inside the bound of an unknown kernel */
    judge(&s, NULL, 0, 0);
    expect(&s, "no claim", ATTEST_PASS, 0);
    ck_assert(s.result.ulp_lo > 7.4 && s.result.ulp_hi < 8.6);
    judge(&s, NULL, 0, 9);
    expect(&s, "claim 9", ATTEST_PASS, 0);
    judge(&s, NULL, 0, 7);
    expect(&s, "claim 7", ATTEST_FAIL, ATTEST_REASON_CLAIM);
    ck_assert_msg(strstr(s.result.why, "7 claimed") != NULL, "%s", s.result.why);
    close_scene(&s);
}
END_TEST

/* Along the truth: what is below 0 errs to the other side; what may be exact has none. */
START_TEST(test_bias_of_signs)
{
    attest_error err = { "" };
    attest_bundle *inputs;
    attest_case c;
    scene s;
    ok(attest_case_parse(&c, "variant=softmax n=2 m=9 d=4 e=2 family=ones", NULL, NULL, &err), &err);
    ok(attest_bundle_new(&inputs, &err), &err);
    ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
    for (int64_t j = 0; j < 9; j++)
        put(attest_bundle_role(inputs, ATTEST_V), 2 * j + 1, -1);
    open_scene(&s, "variant=softmax n=2 m=9 d=4 e=2 family=ones", inputs);
    attest_tensor *o = give(&s, O);
    judge(&s, NULL, 0, 0);
    ck_assert_msg(s.result.outward_bias == 0, "exact: %g", s.result.outward_bias);
    for (int64_t i = 0; i < attest_tensor_count(o); i++)
        put(o, i, (i % 2 ? -1 : 1) * (1 + 0x1p-21));
    judge(&s, NULL, 0, 0);
    ck_assert_msg(s.result.outward_bias > 0.5, "outward_bias %g", s.result.outward_bias);
    ck_assert_msg(fabs(s.result.bias) < 1e-9, "bias %g", s.result.bias); /* as many above as below */
    close_scene(&s);
}
END_TEST

START_TEST(test_bias)
{
    for (int side = -1; side <= 1; side += 2) {
        scene s;
        open_scene(&s, "variant=softmax n=9 d=4 family=ones", NULL);
        attest_tensor *o = give(&s, O);
        for (int64_t i = 0; i < attest_tensor_count(o); i++)
            put(o, i, 1 + side * 0x1p-21);
        judge(&s, NULL, 0, 0);
        expect(&s, "biased", ATTEST_PASS, 0);
        ck_assert_msg(side * s.result.bias > 0.5, "bias %g", s.result.bias);
        ck_assert_msg(fabs(s.result.norm_error - 0x1p-21) < 1e-12, "%g", s.result.norm_error);
        ck_assert_msg(s.result.abs_scale_ratio >= fabs(s.result.bias) * 0.999, "%g", s.result.abs_scale_ratio);
        close_scene(&s);
    }
}
END_TEST

/* T_1 at scores below -1: negative weights, negative z, o judged as it is, nothing clamped. */
START_TEST(test_negative_denominator)
{
    scene s;
    open_scene(&s, "variant=taylor:1 n=6 d=4 family=negative", NULL);
    give(&s, O);
    give(&s, U);
    give(&s, Z);
    judge(&s, NULL, 0, 0);
    expect(&s, "negative denominators", ATTEST_PASS, 0);
    ck_assert_msg(s.result.rows_negative_weight == 6 && s.result.rows_negative_sum == 6 && s.result.rows_vanishing == 0,
                  "%lld %lld %lld", (long long)s.result.rows_negative_weight, (long long)s.result.rows_negative_sum,
                  (long long)s.result.rows_vanishing);
    close_scene(&s);
    open_scene(&s, "variant=linear norm=sum n=5 d=4 family=flat", NULL);
    give(&s, O);
    give(&s, U);
    judge(&s, NULL, 0, 0);
    ck_assert(s.result.rows_negative_weight == 0 && s.result.rows_negative_sum == 0 && s.result.rows_vanishing == 5);
    close_scene(&s);
}
END_TEST

/* u overflows float, z does not: z alone vouches for nothing.  And an lse whose z overflows is not judged. */
START_TEST(test_unbounded)
{
    scene s;
    open_scene(&s, "variant=linear norm=sum n=3 m=4 d=1 family=normal:1e15", NULL);
    attest_tensor *o = give(&s, O);
    give(&s, Z);
    put(o, 0, NAN);
    judge(&s, NULL, 0, 0);
    expect(&s, "z without o", ATTEST_UNDECIDED, 0);
    ck_assert_msg(strstr(s.result.why, "no element of o could be judged: 3 elements without a bound") &&
                      s.result.z_ratio < 1,
                  "%s", s.result.why);
    close_scene(&s);
    open_scene(&s, "variant=taylor:4 n=3 d=4 e=1 family=normal:1e15", NULL);
    put(give(&s, LSE), 0, INFINITY);
    judge(&s, NULL, 0, 0);
    expect(&s, "lse of an overflown z", ATTEST_UNDECIDED, 0);
    close_scene(&s);
    open_scene(&s, "variant=linear-elu window=1 n=16 d=1 family=normal:20", NULL); /* some z below the error of elu1 */
    o = give(&s, O);
    judge(&s, NULL, 0, 0);
    expect(&s, "elements without a bound beside others", ATTEST_PARTIAL, 0);
    ck_assert_msg(strstr(s.result.why, "without a bound; the kernel declares nothing: --declare") != NULL, "%s",
                  s.result.why);
    judge_declared(&s, NULL, &(attest_numerics){ .struct_size = sizeof(attest_numerics), .exp_error = 0x1p-23 }, 0, 0);
    ck_assert_msg(strstr(s.result.why, "without a bound") && !strstr(s.result.why, "declare"), "%s", s.result.why);
    judge(&s, NULL, 0, 0);
    ck_assert(s.result.elements_unbounded > 0 && s.result.elements_unbounded + s.result.elements_judged == 16);
    const double norm = s.result.norm_error;
    put(o, 0, 2 * attest_load(o, 0)); /* an element has a truth without a bound as well */
    judge(&s, NULL, 0, 0);
    ck_assert_msg(s.result.norm_error > norm, "%g", s.result.norm_error);
    put(o, 0, attest_load(o, 0) / 2);
    for (int64_t i = 0; i < attest_tensor_count(o); i++) {
        const double kept = attest_load(o, i);
        put(o, i, NAN);
        judge(&s, NULL, 0, 0);
        ck_assert_msg(s.result.verdict == ATTEST_FAIL || s.result.verdict == ATTEST_UNDECIDED,
                      "a NaN at %lld passes: %s", (long long)i, s.result.why);
        put(o, i, kept);
    }
    close_scene(&s);
}
END_TEST

START_TEST(test_empty_rows)
{
    scene s;
    open_scene(&s, "variant=softmax mask=causal-br n=5 m=2 d=4 e=2", NULL); /* rows 0..2 see no key */
    attest_tensor *o = give(&s, O), *lse = give(&s, LSE);
    put(lse, 1, -INFINITY);
    put(lse, 0, -INFINITY), put(lse, 2, -INFINITY);
    judge(&s, NULL, 0, 0);
    expect(&s, "zeros", ATTEST_PASS, 0);
    put(o, 2, 0x1p-149);
    judge(&s, NULL, 0, 0);
    expect(&s, "not quite zero", ATTEST_FAIL, ATTEST_REASON_BOUND);
    ck_assert_str_eq(s.result.worst, "o[0,0,1,0]");
    put(o, 2, NAN);
    judge(&s, NULL, 0, 0);
    expect(&s, "NaN", ATTEST_FAIL, ATTEST_REASON_BOUND | ATTEST_REASON_NAN_PATTERN);
    judge_empty(&s, ATTEST_EMPTY_NAN);
    expect(&s, "NaN declared", ATTEST_PASS, 0);
    put(o, 2, 0), put(lse, 1, 0);
    judge(&s, NULL, 0, 0);
    expect(&s, "lse", ATTEST_FAIL, ATTEST_REASON_LSE);
    ck_assert_str_eq(s.result.worst, "lse[0,0,1]");
    close_scene(&s);
}
END_TEST

START_TEST(test_no_truth)
{
    attest_error err = { "" };
    attest_bundle *inputs = NULL;
    attest_case c;
    scene s;
    const char *line = "variant=softmax mask=causal n=6 d=4 e=2";
    ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
    ok(attest_bundle_new(&inputs, &err), &err);
    ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
    put(attest_bundle_role(inputs, ATTEST_V), 4 * 2, NAN); /* read by rows 4 and 5 */
    open_scene(&s, line, inputs);
    attest_tensor *o = give(&s, O);
    for (int64_t i = 8; i < 12; i++)
        put(o, i, NAN);
    judge(&s, NULL, 0, 0);
    expect(&s, "rows 4 and 5", ATTEST_PARTIAL, 0);
    ck_assert_msg(strstr(s.result.why, "2 elements without truth") != NULL, "%s", s.result.why); /* the other channel */
    put(o, 4 * 2, 1);
    judge(&s, NULL, 0, 0);
    expect(&s, "a number where a NaN must stand", ATTEST_FAIL, ATTEST_REASON_BOUND | ATTEST_REASON_NAN_PATTERN);
    ck_assert_str_eq(s.result.worst, "o[0,0,4,0]");
    const uint64_t kept = attest_load_bits(o, 7);
    put(o, 4 * 2, NAN);
    put(o, 7, NAN);
    judge(&s, NULL, 0, 0);
    expect(&s, "row 3", ATTEST_FAIL, ATTEST_REASON_BOUND | ATTEST_REASON_NAN_PATTERN);
    attest_store_bits(o, 7, kept);
    attest_tensor *u = give(&s, U);
    for (int64_t i = 8; i < 12; i++)
        put(u, i, NAN);
    put(u, 4 * 2, 1);
    judge(&s, NULL, 0, 0);
    expect(&s, "a number in u, and o right", ATTEST_FAIL, ATTEST_REASON_BOUND | ATTEST_REASON_NAN_PATTERN);
    ck_assert_str_eq(s.result.worst, "u[0,0,4,0]");
    close_scene(&s);
}
END_TEST

/* An error that differs from the bound by less than doubles can tell: neither passed nor failed. */
START_TEST(test_undecided)
{
    attest_error err = { "" };
    attest_bundle *inputs = NULL;
    attest_case c;
    scene s;
    const char *line = "variant=linear n=1 m=2 d=1 scale=1 in=f64";
    ok(attest_case_parse(&c, line, NULL, NULL, &err), &err);
    ok(attest_bundle_new(&inputs, &err), &err);
    ok(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
    put(attest_bundle_role(inputs, ATTEST_Q), 0, 1.25);
    for (int64_t j = 0; j < 2; j++) {
        put(attest_bundle_role(inputs, ATTEST_K), j, 1.25);
        put(attest_bundle_role(inputs, ATTEST_V), j, j ? -1.375 : 1.375);
    }
    open_scene(&s, line, inputs);
    attest_tensor *o = give(&s, O);
    ck_assert(attest_load(o, 0) == 0);
    judge(&s, NULL, 0, 0);
    expect(&s, "exactly 0", ATTEST_PASS, 0);
    const double bound = s.result.bound;
    ck_assert(bound > 0);
    put(o, 0, bound);
    judge(&s, NULL, 0, 0);
    expect(&s, "the bound", ATTEST_PASS, 0);
    put(o, 0, nextafter(bound, 1));
    judge(&s, NULL, 0, 0);
    expect(&s, "next to the bound", ATTEST_UNDECIDED, 0);
    ck_assert_msg(s.result.ratio_lo <= 1 && s.result.ratio_hi > 1 && strstr(s.result.why, "1 element undecided"), "%s",
                  s.result.why);
    put(o, 0, bound * (1 + 0x1p-40));
    judge(&s, NULL, 0, 0);
    expect(&s, "past the bound", ATTEST_FAIL, ATTEST_REASON_BOUND);
    close_scene(&s);
}
END_TEST

START_TEST(test_truncation)
{
    attest_error err = { "" };
    attest_truth *exact = NULL;
    attest_case softmax;
    scene s;
    open_scene(&s, "variant=taylor:2 n=9 d=3", NULL);
    give(&s, O);
    ok(attest_case_parse(&softmax, "variant=softmax n=9 d=3", NULL, NULL, &err), &err);
    ok(attest_truth_new(&exact, &softmax.problem, s.inputs, ATTEST_ENGINE_AUTO, &err), &err);
    judge(&s, exact, 0, 0);
    expect(&s, "taylor:2", ATTEST_PASS, 0); /* truncation is told, not judged */
    ck_assert_msg(s.result.truncation > 1e-3 && s.result.truncation < 10, "%g", s.result.truncation);
    ck_assert_msg(s.result.rounding < 1e-6, "%g", s.result.rounding);
    attest_truth_free(exact);
    close_scene(&s);
}
END_TEST

static int holds(const attest_row_index *rows, int64_t count, int64_t b, int64_t h, int64_t i)
{
    for (int64_t k = 0; k < count; k++)
        if (rows[k].b == b && rows[k].h == h && rows[k].i == i)
            return 1;
    return 0;
}

START_TEST(test_rows)
{
    static const int64_t edges[] = { 0, 31, 32, 33, 63, 64, 65, 991, 992, 993, 999 };
    attest_error err = { "" };
    attest_problem p = { .b = 2, .hq = 3, .n = 256 };
    attest_row_index *rows, *again, *other;
    int64_t count, again_count, other_count;
    ok(attest_rows_to_judge(&rows, &count, &p, 7, 32, &err), &err);
    ck_assert_int_eq(count, 6 * 256);
    for (int64_t k = 0; k < count; k++)
        ck_assert(rows[k].b == k / 768 && rows[k].h == k / 256 % 3 && rows[k].i == k % 256);
    free(rows);
    p.n = 1000;
    ok(attest_rows_to_judge(&rows, &count, &p, 7, 32, &err), &err);
    ck_assert_msg(count > 6 * 36 && count <= 6 * 43, "%lld rows", (long long)count);
    for (int64_t k = 1; k < count; k++)
        ck_assert(rows[k].h != rows[k - 1].h || rows[k].i > rows[k - 1].i);
    for (int64_t head = 0; head < 6; head++)
        for (size_t k = 0; k < sizeof edges / sizeof edges[0]; k++)
            ck_assert_msg(holds(rows, count, head / 3, head % 3, edges[k]), "row %lld", (long long)edges[k]);
    ok(attest_rows_to_judge(&again, &again_count, &p, 7, 32, &err), &err);
    ck_assert(again_count == count && memcmp(again, rows, (size_t)count * sizeof *rows) == 0);
    ok(attest_rows_to_judge(&other, &other_count, &p, 8, 32, &err), &err);
    ck_assert(other_count != count || memcmp(other, rows, (size_t)count * sizeof *rows) != 0);
    free(rows), free(again), free(other);
    for (int64_t tile = 0; tile <= 4000; tile += 257) { /* unknown, and larger than n: no row outside */
        p.n = 257;
        ok(attest_rows_to_judge(&rows, &count, &p, 7, tile, &err), &err);
        ck_assert(holds(rows, count, 1, 2, 0) && holds(rows, count, 1, 2, 256));
        for (int64_t k = 0; k < count; k++)
            ck_assert(rows[k].i >= 0 && rows[k].i < 257);
        free(rows);
    }
}
END_TEST

/* Only the chosen rows of a long case are judged, and the row says so. */
START_TEST(test_sampled_case)
{
    scene s;
    open_scene(&s, "variant=linear-relu norm=none mask=causal n=300 d=2 e=1", NULL);
    attest_error err = { "" };
    attest_row_index *rows = NULL;
    int64_t count = 0, missed = 0;
    attest_tensor *o = give(&s, O);
    ok(attest_rows_to_judge(&rows, &count, &s.c.problem, attest_case_hash(&s.c), 0, &err), &err);
    judge(&s, NULL, 0, 0);
    expect(&s, "sampled", ATTEST_PASS, 0);
    ck_assert(s.result.rows_judged == count && s.result.rows_total == 300 && count < 60);
    while (holds(rows, count, 0, 0, missed))
        missed++;
    put(o, missed, 1e9);
    judge(&s, NULL, 0, 0);
    expect(&s, "a row that is not judged", ATTEST_PASS, 0);
    put(o, 299, 1e9);
    judge(&s, NULL, 0, 0);
    expect(&s, "the last row", ATTEST_FAIL, ATTEST_REASON_BOUND);
    free(rows);
    close_scene(&s);
}
END_TEST

Suite *suite_compare(void)
{
    Suite *s = suite_create("compare");
    TCase *t = tcase_create("compare");
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_rounded_truth_passes);
    tcase_add_test(t, test_distance_from_truth);
    tcase_add_test(t, test_wrong_values);
    tcase_add_test(t, test_other_outputs);
    tcase_add_test(t, test_claim);
    tcase_add_test(t, test_bias);
    tcase_add_test(t, test_bias_of_signs);
    tcase_add_test(t, test_negative_denominator);
    tcase_add_test(t, test_unbounded);
    tcase_add_test(t, test_empty_rows);
    tcase_add_test(t, test_no_truth);
    tcase_add_test(t, test_undecided);
    tcase_add_test(t, test_truncation);
    tcase_add_test(t, test_rows);
    tcase_add_test(t, test_sampled_case);
    suite_add_tcase(s, t);
    return s;
}

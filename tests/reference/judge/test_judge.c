/* Judging: every class of element, intervals, flags, states; correctly rounded outputs always pass. */
#include <stdio.h>

#include "tests/reference/bound/bound_sim.h"

Suite *suite_judge(void);

static const attest_numerics unknown = { .struct_size = sizeof(attest_numerics) };

/* A problem with its truth; outputs are added by name. */
typedef struct judged {
    attest_case c;
    attest_bundle *bundle;
    attest_truth *truth;
} judged;

static void open_case(judged *x, const char *line)
{
    attest_error err;
    memset(x, 0, sizeof *x);
    ck_assert_msg(attest_case_parse(&x->c, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_msg(attest_bundle_new(&x->bundle, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_draw_missing(x->bundle, &x->c, 0, 0, &err) == ATTEST_OK, "%s: %s", line, err.text);
}

static void ready(judged *x, uint32_t engine)
{
    attest_error err;
    ck_assert_msg(attest_truth_new(&x->truth, &x->c.problem, x->bundle, engine, &err) == ATTEST_OK, "%s", err.text);
}

static void close_case(judged *x)
{
    attest_truth_free(x->truth);
    attest_bundle_free(x->bundle);
}

static void set(const judged *x, attest_role role, int64_t token, int64_t channel, double value)
{
    const attest_tensor *t = attest_bundle_role(x->bundle, role);
    attest_store_bits(t, attest_offset(t, 0, 0, token, channel), attest_from_f64(t->dtype, value));
}

/* Judges one element value in row i of head 0, e = 1. */
static attest_element row_as(const judged *x, const attest_numerics *numerics, attest_role role, uint32_t dtype,
                             double value, uint32_t flags, int64_t i, attest_row_facts *facts)
{
    attest_error err;
    attest_element elements[64];
    const attest_tensor_id id = { ATTEST_KIND_ROLE, (uint32_t)role };
    attest_tensor t;
    uint64_t store[64] = { 0 };
    attest_tensor_describe(&t, &x->c.problem, id, 0);
    t.dtype = dtype;
    t.bits = (uint8_t)(8 * attest_dtype_bytes(dtype));
    t.data = store;
    attest_store_bits(&t, attest_offset(&t, 0, 0, i, 0), attest_from_f64(dtype, value));
    ck_assert(attest_tensor_count(&t) <= 64);
    ck_assert_msg(attest_judge_row(elements, facts, x->truth, numerics, flags, id, &t, (attest_row){ 0, 0, i }, &err) ==
                      ATTEST_OK,
                  "%s", err.text);
    return elements[0];
}

static attest_element one_row(const judged *x, attest_role role, uint32_t dtype, double value, uint32_t flags,
                              int64_t i, attest_row_facts *facts)
{
    return row_as(x, &unknown, role, dtype, value, flags, i, facts);
}

static const char *const lines[] = {
    "n=20 d=8",
    "variant=softmax1 n=16 d=8 b=2 hq=4 hkv=2 mask=causal in=bf16",
    "n=24 m=30 d=4 mask=causal-br window=5 lens=draw b=3 in=f16 p=f16",
    "variant=taylor:3 n=12 d=4 mask=causal",
    "variant=taylor:2 center=mid n=12 d=4 in=f64",
    "variant=shifted:1 n=12 d=4",
    "variant=term:2 n=12 d=4 mask=causal family=dyadic scale=1",
    "variant=quadratic n=12 d=4 mask=causal hq=4 hkv=2",
    "variant=linear n=12 d=4 mask=causal in=bf16 out=f32",
    "variant=linear-elu n=12 d=4 mask=causal",
    "variant=linear-elu n=12 d=4 eps=0.001 family=uniform",
    "variant=linear-relu n=12 d=4 eps=1",
    "variant=based n=12 d=4 mask=causal state=draw",
    "n=12 d=4 eps=0.5",
    "variant=taylor:0 n=12 d=4",
    "n=8 d=4 family=huge in=f64 acc=f32 out=f32 p=f32",
};

/* Every row of a correctly rounded output; returns elements judged. */
static int64_t judge_rows(const judged *x, attest_tensor_id id, const attest_tensor *got, const char *line)
{
    attest_error err;
    const attest_problem *p = &x->c.problem;
    const int64_t width = id.index == ATTEST_O || id.index == ATTEST_U ? p->e : 1;
    attest_element *el = malloc((size_t)width * sizeof *el);
    int64_t judged_count = 0;
    for (int64_t r = 0; r < p->b * p->hq * p->n; r++) {
        const int64_t b = r / (p->hq * p->n), h = r / p->n % p->hq, i = r % p->n;
        ck_assert_msg(attest_judge_row(el, NULL, x->truth, &unknown, 0, id, got, (attest_row){ b, h, i }, &err) ==
                          ATTEST_OK,
                      "%s: %s", line, err.text);
        for (int64_t c = 0; c < width; c++) {
            ck_assert_msg(el[c].decided, "%s: undecided", line);
            ck_assert_msg(el[c].ratio_hi <= 1, "%s: output %u row %lld,%lld,%lld channel %lld class %u ratio %g", line,
                          id.index, (long long)b, (long long)h, (long long)i, (long long)c, el[c].class,
                          el[c].ratio_hi);
            if (el[c].class != ATTEST_CLASS_NORMAL)
                continue;
            ck_assert_msg(el[c].ulp_lo <= 0.5, "%s: %g ulp after one rounding", line, el[c].ulp_lo);
            ck_assert_msg(el[c].error_hi == 0 || el[c].abs_scale > 0, "%s: abs_scale 0 where there is an error", line);
            judged_count++;
        }
    }
    free(el);
    return judged_count;
}

static int64_t judge_state(const judged *x, attest_tensor_id id, const attest_tensor *got, const char *line)
{
    attest_error err;
    const attest_problem *p = &x->c.problem;
    const int64_t count = got->shape[2] * (id.kind == ATTEST_KIND_ZT ? 1 : p->e);
    attest_element *el = malloc((size_t)count * sizeof *el);
    for (int64_t r = 0; r < p->b * p->hkv; r++) {
        ck_assert_msg(attest_judge_state(el, x->truth, &unknown, 0, id, 0, got, r / p->hkv, r % p->hkv, &err) ==
                          ATTEST_OK,
                      "%s: %s", line, err.text);
        for (int64_t k = 0; k < count; k++)
            ck_assert_msg(el[k].class == ATTEST_CLASS_NORMAL && el[k].decided && el[k].ratio_hi <= 1 &&
                              el[k].ulp_lo <= 0.5,
                          "%s: state %u element %lld ratio %g class %u", line, id.index, (long long)k, el[k].ratio_hi,
                          el[k].class);
    }
    free(el);
    return count * p->b * p->hkv;
}

START_TEST(rounded_outputs_pass)
{
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        attest_error err;
        attest_tensor_id ids[ATTEST_MAX_TENSORS];
        judged x;
        int64_t count = 0;
        open_case(&x, lines[k]);
        ready(&x, ATTEST_ENGINE_AUTO);
        const size_t outputs = attest_problem_outputs(&x.c.problem, ids, ATTEST_MAX_TENSORS);
        for (size_t t = 0; t < outputs; t++) {
            attest_tensor want, got;
            attest_rounding_counts counts = { 0 };
            attest_tensor_describe(&want, &x.c.problem, ids[t], 0);
            ck_assert_msg(attest_truth_rounded(&got, x.truth, ids[t], want.dtype, &counts, &err) == ATTEST_OK, "%s: %s",
                          lines[k], err.text);
            count += ids[t].kind == ATTEST_KIND_ROLE ? judge_rows(&x, ids[t], &got, lines[k])
                                                     : judge_state(&x, ids[t], &got, lines[k]);
            free(got.data);
        }
        ck_assert_msg(count >= 40, "%s: only %lld elements judged", lines[k], (long long)count);
        close_case(&x);
    }
}
END_TEST

/* One key, e = 1: o = v. */
START_TEST(special_values)
{
    judged x;
    open_case(&x, "n=1 m=1 d=1 e=1 out=f16 acc=f32 in=f32");
    set(&x, ATTEST_V, 0, 0, 3.0);
    ready(&x, ATTEST_ENGINE_AUTO);
    attest_element y = one_row(&x, ATTEST_O, ATTEST_F16, 3.0, 0, 0, NULL);
    ck_assert(y.class == ATTEST_CLASS_NORMAL && y.decided && y.error_hi <= 0x1p-60 && y.ratio_hi < 1e-9);
    y = one_row(&x, ATTEST_O, ATTEST_F16, (double)NAN, 0, 0, NULL);
    ck_assert(y.decided && y.error_lo > 1e300 && y.ratio_lo > 1e300 && y.ulp_lo > 1e300);
    y = one_row(&x, ATTEST_O, ATTEST_F16, (double)INFINITY, 0, 0, NULL);
    ck_assert(y.class == ATTEST_CLASS_PREMATURE_OVERFLOW && y.ratio_lo > 1000 && y.decided);
    ck_assert_msg(y.error_lo > 65530 && y.error_hi < 65536, "an infinity counts as 2^16: %g", y.error_lo);
    y = one_row(&x, ATTEST_O, ATTEST_F16, -3.0, 0, 0, NULL);
    ck_assert_msg(y.error_lo > 5.999 && y.signed_hi < -5.999, "a sign flip is the real distance");
    close_case(&x);
    open_case(&x, "n=1 m=1 d=1 e=1 out=f16 acc=f32 in=f32");
    set(&x, ATTEST_V, 0, 0, 70000.0);
    ready(&x, ATTEST_ENGINE_AUTO);
    y = one_row(&x, ATTEST_O, ATTEST_F16, (double)INFINITY, 0, 0, NULL);
    ck_assert_msg(y.error_hi == 0 && y.ratio_hi == 0, "the right infinity has no error");
    y = one_row(&x, ATTEST_O, ATTEST_F16, -(double)INFINITY, 0, 0, NULL);
    ck_assert_msg(isinf(y.error_lo) && isinf(y.ratio_lo), "the wrong infinity");
    y = one_row(&x, ATTEST_O, ATTEST_F16, 65504, 0, 0, NULL);
    ck_assert_msg(y.ratio_lo > 10, "finite where the truth rounds to infinity: ratio %g", y.ratio_lo);
    close_case(&x);
    open_case(&x, "n=1 m=1 d=1 e=1 out=f16 acc=f32 in=f32"); /* within the bound of the overflow threshold */
    set(&x, ATTEST_V, 0, 0, 65519.99);
    ready(&x, ATTEST_ENGINE_AUTO);
    y = one_row(&x, ATTEST_O, ATTEST_F16, (double)INFINITY, 0, 0, NULL);
    ck_assert_msg(y.class == ATTEST_CLASS_UNBOUNDED && y.decided, "class %u", y.class);
    close_case(&x);
}
END_TEST

START_TEST(flushed_subnormals)
{
    judged x;
    open_case(&x, "n=1 m=1 d=1 e=1");
    set(&x, ATTEST_V, 0, 0, 0x1p-127);
    ready(&x, ATTEST_ENGINE_AUTO);
    attest_element y = one_row(&x, ATTEST_O, ATTEST_F32, 0, 0, 0, NULL);
    ck_assert_msg(y.ratio_lo > 1, "a flushed subnormal without the flag: ratio %g", y.ratio_lo);
    y = one_row(&x, ATTEST_O, ATTEST_F32, -0.0, ATTEST_FTZ, 0, NULL);
    ck_assert_msg(y.ratio_hi <= 1 && y.ulp_hi == 0, "flushed with the flag: ratio %g, %g ulp", y.ratio_hi, y.ulp_hi);
    close_case(&x);
}
END_TEST

/* What an empty row (1 of x) may hold, as declared. */
static void check_empty_kinds(const judged *x)
{
    static const struct {
        uint32_t holds;
        double value;
        int judged, right;
    } rows[] = { { ATTEST_EMPTY_ZERO, NAN, 1, 0 }, { ATTEST_EMPTY_NAN, NAN, 1, 1 }, { ATTEST_EMPTY_NAN, 0, 1, 1 },
                 { ATTEST_EMPTY_NAN, 3, 1, 0 },    { ATTEST_EMPTY_MEAN, 3, 0, 1 },  { ATTEST_EMPTY_ANY, 3, 0, 1 },
                 { ATTEST_EMPTY_ANY, NAN, 0, 1 } };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const attest_numerics numerics = { .struct_size = sizeof numerics, .empty_row = rows[r].holds };
        const attest_element y = row_as(x, &numerics, ATTEST_O, ATTEST_F32, rows[r].value, 0, 1, NULL);
        ck_assert_uint_eq(y.class, rows[r].judged ? ATTEST_CLASS_EMPTY : ATTEST_CLASS_ABSENT);
        ck_assert_int_eq(y.ratio_hi == 0, rows[r].right);
    }
}

START_TEST(rows_without_value)
{
    judged x;
    attest_element y;
    open_case(&x, "n=3 m=1 d=1 e=1 mask=causal-br"); /* rows 0 and 1 see nothing */
    ready(&x, ATTEST_ENGINE_AUTO);
    ck_assert(one_row(&x, ATTEST_O, ATTEST_F32, -0.0, 0, 0, NULL).ratio_hi == 0);
    ck_assert(one_row(&x, ATTEST_O, ATTEST_F32, 0x1p-149, 0, 0, NULL).ratio_lo > 1);
    y = one_row(&x, ATTEST_O, ATTEST_F32, -0x1.8p-148, 0, 0, NULL);
    ck_assert_msg(y.class == ATTEST_CLASS_EMPTY && y.ulp_lo == 3 && y.ulp_hi == 3 && y.error_hi == 0x1.8p-148,
                  "beside an exact 0: [%g, %g] ulp", y.ulp_lo, y.ulp_hi);
    y = one_row(&x, ATTEST_O, ATTEST_F32, (double)INFINITY, 0, 0, NULL);
    ck_assert_msg(y.class == ATTEST_CLASS_EMPTY && y.ulp_hi == 0x1p277 && isinf(y.ratio_lo), "inf: %g ulp", y.ulp_hi);
    y = one_row(&x, ATTEST_O, ATTEST_F32, (double)NAN, 0, 1, NULL);
    ck_assert(y.class == ATTEST_CLASS_EMPTY && isinf(y.ratio_lo) && isinf(y.ulp_lo));
    check_empty_kinds(&x);
    ck_assert(one_row(&x, ATTEST_LSE, ATTEST_F32, -(double)INFINITY, 0, 1, NULL).ratio_hi == 0);
    ck_assert(isinf(one_row(&x, ATTEST_LSE, ATTEST_F32, -1e30, 0, 1, NULL).ratio_lo));
    close_case(&x);
    open_case(&x, "variant=taylor:1 n=2 m=1 d=1 e=1 scale=1"); /* z = 1 + s: 0 and -1 */
    set(&x, ATTEST_Q, 0, 0, 1);
    set(&x, ATTEST_Q, 1, 0, 2);
    set(&x, ATTEST_K, 0, 0, -1);
    ready(&x, ATTEST_ENGINE_AUTO);
    ck_assert_uint_eq(one_row(&x, ATTEST_O, ATTEST_F32, 1, 0, 0, NULL).class, ATTEST_CLASS_ILLPOSED);
    ck_assert(one_row(&x, ATTEST_Z, ATTEST_F32, 0, 0, 0, NULL).ratio_hi == 0);
    ck_assert(one_row(&x, ATTEST_Z, ATTEST_F32, 0.01, 0, 0, NULL).ratio_lo > 1);
    ck_assert_uint_eq(one_row(&x, ATTEST_LSE, ATTEST_F32, 1, 0, 1, NULL).class, ATTEST_CLASS_ABSENT);
    close_case(&x);
    open_case(&x, "n=2 m=2 d=1 e=1 mask=causal");
    set(&x, ATTEST_V, 1, 0, (double)INFINITY);
    ready(&x, ATTEST_ENGINE_AUTO);
    ck_assert_uint_eq(one_row(&x, ATTEST_O, ATTEST_F32, 1, 0, 1, NULL).class, ATTEST_CLASS_NO_TRUTH);
    ck_assert_uint_eq(one_row(&x, ATTEST_O, ATTEST_F32, 1, 0, 0, NULL).class, ATTEST_CLASS_NORMAL);
    close_case(&x);
}
END_TEST

/* A column whose sums may overflow has no bound; the next one has. */
START_TEST(overflow_of_one_column)
{
    for (int64_t big = 0; big < 2; big++) {
        judged x;
        attest_element elements[2];
        attest_error err;
        attest_tensor t;
        float o[2] = { 1, 1 };
        const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
        open_case(&x, "n=1 m=1 d=1 e=2");
        set(&x, ATTEST_V, 0, big, 0x1.8p127f);
        set(&x, ATTEST_V, 0, 1 - big, 1);
        o[big] = 0x1.8p127f;
        ready(&x, ATTEST_ENGINE_AUTO);
        attest_tensor_describe(&t, &x.c.problem, id, 0);
        t.data = o;
        ck_assert(attest_judge_row(elements, NULL, x.truth, &unknown, 0, id, &t, (attest_row){ 0, 0, 0 }, &err) ==
                  ATTEST_OK);
        ck_assert_uint_eq(elements[big].class, ATTEST_CLASS_UNBOUNDED);
        ck_assert_uint_eq(elements[1 - big].class, ATTEST_CLASS_NORMAL);
        close_case(&x);
    }
}
END_TEST

/* R-NAN: where a NaN must stand, a number fails; where nothing is known, nothing is judged. */
START_TEST(nan_pattern)
{
    static const struct {
        const char *line;
        attest_role tensor; /* gets the value at token 1, channel 0 */
        double value;
        attest_role output;
        int row, must;
    } cases[] = {
        { "n=3 d=2 e=2 mask=causal", ATTEST_V, NAN, ATTEST_O, 1, 1 },
        { "n=3 d=2 e=2 mask=causal", ATTEST_V, NAN, ATTEST_O, 0, -1 }, /* not visible: has a truth */
        { "n=3 d=2 e=2 mask=causal", ATTEST_K, NAN, ATTEST_LSE, 2, 1 },
        { "n=3 d=2 e=2 mask=causal", ATTEST_Q, NAN, ATTEST_O, 1, 1 },
        { "n=3 d=2 e=2 mask=causal", ATTEST_V, NAN, ATTEST_LSE, 1, 0 },
        { "n=3 d=2 e=2 mask=causal", ATTEST_K, INFINITY, ATTEST_O, 1, 0 },
        { "variant=taylor:2 n=3 d=2 e=2", ATTEST_K, NAN, ATTEST_Z, 0, 1 },
        { "variant=taylor:0 n=3 d=2 e=2", ATTEST_K, NAN, ATTEST_Z, 0, 0 },
        { "variant=linear-relu n=3 d=2 e=2", ATTEST_Q, NAN, ATTEST_U, 1, 0 },
        { "n=3 d=2 e=2 mask=causal dropout=0.5", ATTEST_Q, NAN, ATTEST_O, 1, 0 }, /* keep is 0: all is dropped */
        { "n=3 d=2 e=2 mask=causal dropout=0.5", ATTEST_V, NAN, ATTEST_U, 1, 0 },
        { "n=3 d=2 e=2 mask=causal dropout=0.5", ATTEST_K, NAN, ATTEST_LSE, 2, 1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        judged x;
        open_case(&x, cases[k].line);
        set(&x, cases[k].tensor, 1, 0, (float)cases[k].value);
        ready(&x, ATTEST_ENGINE_AUTO);
        const attest_element number = one_row(&x, cases[k].output, ATTEST_F32, 1, 0, cases[k].row, NULL);
        const attest_element nan = one_row(&x, cases[k].output, ATTEST_F32, (double)NAN, 0, cases[k].row, NULL);
        if (cases[k].must < 0) {
            ck_assert_uint_ne(number.class, ATTEST_CLASS_NO_TRUTH);
        } else {
            ck_assert_uint_eq(number.class, ATTEST_CLASS_NO_TRUTH);
            ck_assert_uint_eq(nan.class, ATTEST_CLASS_NO_TRUTH);
            ck_assert_msg(cases[k].must ? isinf(number.ratio_lo) && nan.ratio_hi == 0
                                        : isnan(number.ratio_lo) && isnan(nan.ratio_hi),
                          "case %d: %g %g", (int)k, number.ratio_lo, nan.ratio_hi);
        }
        close_case(&x);
    }
}
END_TEST

START_TEST(bases_and_sinks_of_lse)
{
    judged x;
    open_case(&x, "variant=softmax1 n=1 m=1 d=1 e=1 scale=1");
    set(&x, ATTEST_Q, 0, 0, 1);
    set(&x, ATTEST_K, 0, 0, 1);
    const attest_tensor *sink = attest_bundle_role(x.bundle, ATTEST_SINK);
    attest_store_bits(sink, 0, attest_from_f64(sink->dtype, 1.0));
    ready(&x, ATTEST_ENGINE_AUTO);
    const struct {
        double value;
        uint32_t flags;
    } right[] = { { 1, 0 },
                  { 0x1.715476p+0, ATTEST_LSE_BASE2 },
                  { 1.6931472, ATTEST_LSE_WITH_SINK },
                  { 2.442695, ATTEST_LSE_WITH_SINK | ATTEST_LSE_BASE2 } };
    for (size_t k = 0; k < 4; k++)
        for (size_t l = 0; l < 4; l++) {
            const attest_element y = one_row(&x, ATTEST_LSE, ATTEST_F32, right[k].value, right[l].flags, 0, NULL);
            ck_assert_msg(k == l ? y.ratio_hi <= 1 : y.ratio_lo > 1, "lse %g under flags %x: ratio %g", right[k].value,
                          right[l].flags, y.ratio_hi);
        }
    close_case(&x);
}
END_TEST

/* s = 2^300 - 2^300 + 2^-70: 128 bits cannot tell z from 0. */
START_TEST(precision_is_raised)
{
    judged x;
    attest_row_facts facts;
    attest_error err;
    double distance[ATTEST_WRONG_COUNT];
    unsigned char keys[1] = { 0 };
    open_case(&x, "variant=linear norm=sum n=1 m=1 d=3 e=1 scale=1 in=f64");
    const double k[3] = { 0x1p300, -0x1p300, 0x1p-70 };
    for (int c = 0; c < 3; c++) {
        set(&x, ATTEST_Q, 0, c, 1);
        set(&x, ATTEST_K, 0, c, k[c]);
    }
    set(&x, ATTEST_V, 0, 0, 2);
    ready(&x, ATTEST_ENGINE_BALL);
    ck_assert(attest_judge_wrong(distance, keys, x.truth, &(double){ 0 }, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK);
    ck_assert_msg(distance[ATTEST_WRONG_ZEROS] == 1, "o = 2 is not known at 128 bits: %g",
                  distance[ATTEST_WRONG_ZEROS]);
    attest_element y = one_row(&x, ATTEST_Z, ATTEST_F64, 0x1p-70, 0, 0, &facts);
    ck_assert_msg(y.decided && y.ratio_hi <= 1 && y.truth_lo <= 0x1p-70 && y.truth_hi >= 0x1p-70, "z: ratio %g",
                  y.ratio_hi);
    y = one_row(&x, ATTEST_O, ATTEST_F64, 2, 0, 0, &facts);
    ck_assert_msg(y.class == ATTEST_CLASS_UNBOUNDED && facts.bits > 128, "class %u at %ld bits", y.class, facts.bits);
    close_case(&x);
    open_case(&x, "n=1 m=2 d=1 e=1 in=f64"); /* an error just beside the bound needs more bits than 128 */
    ready(&x, ATTEST_ENGINE_BALL);
    y = one_row(&x, ATTEST_O, ATTEST_F64, 0.25, 0, 0, &facts);
    ck_assert(y.decided && facts.bits == 128 && facts.visible == 2 && facts.abs_score >= facts.range_lo / 2);
    close_case(&x);
}
END_TEST

/* What is said of a row depends on no precision that was asked for before: the same bits beside a truth that was first
 * asked for 512 bits. */
START_TEST(precision_of_others)
{
    attest_error err;
    judged x, y;
    attest_element one[8], two[8];
    attest_row_facts facts[2];
    attest_tensor got;
    double distance[2][ATTEST_WRONG_COUNT * 8], bound[8];
    unsigned char keys[2][64] = { { 0 } };
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_decimals asked;
    open_case(&x, lines[_i]);
    open_case(&y, lines[_i]);
    ready(&x, ATTEST_ENGINE_BALL);
    ready(&y, ATTEST_ENGINE_BALL);
    ck_assert_msg(attest_truth_decimals(&asked, y.truth, id, 20, 512, &err) == ATTEST_OK, "%s", err.text);
    attest_decimals_free(&asked);
    const attest_problem *p = &x.c.problem;
    attest_tensor_describe(&got, p, id, 0);
    got.data = calloc((size_t)attest_tensor_count(&got), 8);
    ck_assert(got.data && p->e <= 8 && p->m <= 64);
    memset(bound, 0, sizeof bound);
    for (int64_t r = 0; r < p->b * p->hq * p->n; r++) {
        const attest_row at = { r / (p->hq * p->n), r / p->n % p->hq, r % p->n };
        ck_assert(attest_judge_row(one, facts, x.truth, &unknown, 0, id, &got, at, &err) == ATTEST_OK);
        ck_assert(attest_judge_row(two, facts + 1, y.truth, &unknown, 0, id, &got, at, &err) == ATTEST_OK);
        ck_assert_msg(memcmp(one, two, (size_t)p->e * sizeof *one) == 0, "%s: row %lld", lines[_i], (long long)r);
        ck_assert(memcmp(facts, facts + 1, sizeof *facts) == 0);
        ck_assert(attest_judge_wrong(distance[0], keys[0], x.truth, bound, at, &err) == ATTEST_OK);
        ck_assert(attest_judge_wrong(distance[1], keys[1], y.truth, bound, at, &err) == ATTEST_OK);
        ck_assert(memcmp(distance[0], distance[1], ATTEST_WRONG_COUNT * (size_t)p->e * sizeof(double)) == 0);
    }
    free(got.data);
    close_case(&x);
    close_case(&y);
}
END_TEST

/* ht.2 in the packed layout, computed in float; one entry off by 1e-4 fails. */
START_TEST(packed_states)
{
    attest_error err;
    judged x;
    attest_tensor *t;
    const attest_tensor_id id = { ATTEST_KIND_HT, 2 };
    open_case(&x, "variant=quadratic n=6 d=3 e=2 mask=causal");
    ck_assert(attest_bundle_add(x.bundle, &x.c.problem, id, 1, &t, &err) == ATTEST_OK);
    const attest_tensor *k = attest_bundle_role(x.bundle, ATTEST_K), *v = attest_bundle_role(x.bundle, ATTEST_V);
    int64_t r = 0;
    for (int64_t a = 0; a < 3; a++)
        for (int64_t b = a; b < 3; b++, r++)
            for (int64_t c = 0; c < 2; c++) {
                float sum = 0;
                for (int64_t j = 0; j < 6; j++)
                    sum += (float)(attest_load(k, j * 3 + a) * attest_load(k, j * 3 + b)) *
                           (float)attest_load(v, j * 2 + c);
                attest_store_bits(t, r * 2 + c, attest_from_f64(t->dtype, (double)sum));
            }
    ready(&x, ATTEST_ENGINE_AUTO);
    for (int off = -1; off < 12; off++) {
        attest_element el[12];
        const uint64_t keep = off < 0 ? 0 : attest_load_bits(t, off);
        if (off >= 0)
            attest_store_bits(t, off, attest_from_f64(t->dtype, attest_load(t, off) + 1e-4));
        ck_assert(attest_judge_state(el, x.truth, &unknown, 0, id, 1, t, 0, 0, &err) == ATTEST_OK);
        for (int j = 0; j < 12; j++)
            ck_assert_msg(el[j].decided && (j == off ? el[j].ratio_lo > 1 : el[j].ratio_hi <= 1),
                          "entry %d with %d off: ratio %g", j, off, el[j].ratio_hi);
        if (off >= 0)
            attest_store_bits(t, off, keep);
    }
    close_case(&x);
}
END_TEST

Suite *suite_judge(void)
{
    Suite *suite = suite_create("judge");
    TCase *c = tcase_create("judge");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, rounded_outputs_pass);
    tcase_add_test(c, nan_pattern);
    tcase_add_test(c, overflow_of_one_column);
    tcase_add_test(c, special_values);
    tcase_add_test(c, flushed_subnormals);
    tcase_add_test(c, rows_without_value);
    tcase_add_test(c, bases_and_sinks_of_lse);
    tcase_add_test(c, precision_is_raised);
    tcase_add_loop_test(c, precision_of_others, 0, (int)(sizeof lines / sizeof lines[0]));
    tcase_add_test(c, packed_states);
    suite_add_tcase(suite, c);
    return suite;
}

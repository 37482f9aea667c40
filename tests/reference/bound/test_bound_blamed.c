/* test_bound_blamed.c - correct kernels that a bound once failed: outputs that a kernel of the declared arithmetic may
 * give, found by hand, each inside its bound. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/tensor/tensor.h"
#include "props/draw/draw.h"
#include "reference/reference.h"

Suite *suite_bound_blamed(void);

enum { ROLES = 6, MOST = 5 };

/* The first elements of a tensor; those behind are as the last one given, or if `period` is not 0 all repeats. */
typedef struct values {
    attest_role role;
    int count;
    double x[MOST];
    int64_t period;
} values;

typedef struct blamed {
    const char *line;
    attest_numerics n;
    uint32_t flags;
    values given[ROLES];
    int64_t i; /* query */
    double o;  /* what the kernel gives */
} blamed;

#define KNOWN                                                                                                          \
    .struct_size = sizeof(attest_numerics), .exp_error = 0x1p-23, .div_error = 0x1p-24, .log2_domain = ATTEST_NO,      \
    .p_rounding = ATTEST_ROUNDING_NEAREST, .acc_truncates = ATTEST_NO, .scale_dtype = 1 + ATTEST_F32
#define PRODUCTS .schedule = ATTEST_SCHEDULE_CHUNK, .decay_products = ATTEST_YES
#define GDN "variant=gdn n=4 d=1 e=1 scale=1 chunk=2"
#define ONE(role)                                                                                                      \
    {                                                                                                                  \
        role, 1, { 1 }, 0                                                                                              \
    }

#define TWO(key)                                                                                                       \
    {                                                                                                                  \
        ONE(ATTEST_Q), { ATTEST_K, 2, { key, 0 }, 0 }, { ATTEST_V, 2, { 0, 1 }, 0 }                                    \
    }
#define BASE2 .schedule = ATTEST_SCHEDULE_ONLINE, .tile = 4, .exp_error = 0x1p-23, .log2_domain = ATTEST_YES
#define BF16_ONE "variant=softmax n=1 m=2 d=1 e=1 in=bf16 out=f32 p=f32"

static const blamed table[] = {
    /* q gout = 1.0625^2 is 1.125 in bf16 (R-GATE) */
    { "variant=linear mask=causal gates=out n=1 d=1 e=1 scale=1 in=bf16 out=f32",
      { .schedule = 0 },
      0,
      { { ATTEST_Q, 1, { 1.0625 }, 0 }, ONE(ATTEST_K), ONE(ATTEST_V), { ATTEST_GOUT, 1, { 1.0625 }, 0 } },
      0,
      1.125 },
    { "variant=linear mask=causal gates=out n=1 d=1 e=1 scale=1 in=bf16 out=f32 chunk=1",
      { KNOWN, PRODUCTS, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      { { ATTEST_Q, 1, { 1.0625 }, 0 }, ONE(ATTEST_K), ONE(ATTEST_V), { ATTEST_GOUT, 1, { 1.0625 }, 0 } },
      0,
      1.125 },
    { "variant=deltanet gates=out n=1 d=1 e=1 scale=1 in=bf16 out=f32 chunk=1",
      { KNOWN, PRODUCTS, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      { { ATTEST_Q, 1, { 1.0625 }, 0 },
        ONE(ATTEST_K),
        ONE(ATTEST_V),
        ONE(ATTEST_BETA),
        { ATTEST_GOUT, 1, { 1.0625 }, 0 } },
      0,
      1.125 },
    /* gin w, 1.5 2^-24, is 2^-23 in f16 (R-GATE) */
    { "variant=softmax gates=in n=1 m=1 d=1 e=1 p=f16",
      { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS },
      0,
      { ONE(ATTEST_Q), ONE(ATTEST_K), ONE(ATTEST_V), { ATTEST_GIN, 1, { 0x1.8p-24 }, 0 } },
      0,
      0x1p-23 },
    /* the second token says what the state holds: b v is 1.125 in bf16, b k S 1.12890625 (R-DELTA) */
    { "variant=deltanet n=2 d=1 e=1 scale=1 in=bf16 out=f32 chunk=2",
      { KNOWN, PRODUCTS, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      { ONE(ATTEST_Q), ONE(ATTEST_K), { ATTEST_V, 1, { 1.0625 }, 0 }, { ATTEST_BETA, 2, { 1, 1.0625 }, 0 } },
      1,
      1.05859375 },
    { "variant=deltanet n=2 d=1 e=1 scale=1 in=bf16 out=f32",
      { .schedule = 0 },
      0,
      { ONE(ATTEST_Q), ONE(ATTEST_K), { ATTEST_V, 1, { 1.0625 }, 0 }, { ATTEST_BETA, 2, { 1, 1.0625 }, 0 } },
      1,
      1.05859375 },
    /* o is 1.06640625, 1.0625 in bf16; times 1.0625 it is 1.125 (R-OUT) */
    { "variant=softmax gates=out n=1 m=2 d=1 e=1 in=bf16",
      { .schedule = 0 },
      0,
      { { ATTEST_Q, 1, { 0 }, 0 },
        ONE(ATTEST_K),
        { ATTEST_V, 2, { 1.0625, 1.0703125 }, 0 },
        { ATTEST_GOUT, 1, { 1.0625 }, 0 } },
      0,
      1.125 },
    /* scale log2(e) is no power of two where the scale is: q times it, in bf16, is 0.361328125, 1.4453125 (R-SCORE) */
    { BF16_ONE " scale=0.25",
      { BASE2, .scale_dtype = 1 + ATTEST_F32, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      TWO(20),
      0,
      0.006632812679 },
    { BF16_ONE " scale=1",
      { BASE2, .scale_dtype = 1 + ATTEST_F32, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      TWO(5),
      0,
      0.006632812679 },
    { BF16_ONE " scale=0.25", { .schedule = 0 }, 0, TWO(20), 0, 0.006632812679 },
    { BF16_ONE " scale=1", { .schedule = 0 }, 0, TWO(5), 0, 0.006632812679 },
    /* nor is scale/cap: 0.0050048828125 */
    { BF16_ONE " scale=0.25 cap=50",
      { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS, .scaled_dtype = 1 + ATTEST_BF16 },
      0,
      TWO(20),
      0,
      0.006771527763 },
    /* scale log2(e) in f16: 0.360595703125 */
    { "variant=softmax n=1 m=2 d=1 e=1 scale=0.25",
      { BASE2, .scale_dtype = 1 + ATTEST_F16 },
      0,
      TWO(80),
      0,
      2.070094460703748e-09 },
    /* norm=floor undoes the shift: a weight e^-13.25 in f16 (R-HULL does not speak) */
    { "variant=softmax norm=floor:1e-7 n=1 m=1 d=2 e=1 scale=1 p=f16",
      { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS, .division = ATTEST_DIVISION_AFTER_SUM, .cast_in_sum = ATTEST_NO },
      0,
      { ONE(ATTEST_Q), { ATTEST_K, 2, { 2e6, -2000013.25 }, 0 }, { ATTEST_V, 1, { 1.5 }, 0 } },
      0,
      1.52367 },
    /* a weight e^-10.6 is a subnormal number of f16, which may be flushed (R-CAST-KNOWN) */
    { "variant=softmax n=1 m=2 d=1 e=1 scale=1 p=f16",
      { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_NO },
      ATTEST_SERIAL_SUMS | ATTEST_FTZ,
      { ONE(ATTEST_Q), { ATTEST_K, 2, { 0, -10.6 }, 0 }, { ATTEST_V, 2, { 0, 1 }, 0 } },
      0,
      0 },
    /* the product of a key and its decay underflows (R-DELTA) */
    { GDN,
      { KNOWN, PRODUCTS },
      0,
      { { ATTEST_Q, 1, { 1e5 }, 0 },
        { ATTEST_K, 2, { 1e-30, 0 }, 0 },
        { ATTEST_V, 2, { 1e10, 0 }, 0 },
        ONE(ATTEST_BETA),
        { ATTEST_DECAY, 3, { 1, 1e-15, 1 }, 0 } },
      3,
      1.4012984643e-30 },
    { GDN,
      { KNOWN, PRODUCTS },
      0,
      { { ATTEST_Q, 1, { 1e5 }, 0 },
        { ATTEST_K, 2, { 1e-30, 0 }, 0 },
        { ATTEST_V, 2, { 1e10, 0 }, 0 },
        ONE(ATTEST_BETA),
        { ATTEST_DECAY, 3, { 1, 1e-15, 1 }, 0 } },
      1,
      1.4012984643e-30 },
    { GDN,
      { KNOWN, PRODUCTS },
      ATTEST_FTZ,
      { { ATTEST_Q, 1, { 1e5 }, 0 },
        { ATTEST_K, 2, { 1e-20, 0 }, 0 },
        { ATTEST_V, 2, { 1e10, 0 }, 0 },
        ONE(ATTEST_BETA),
        { ATTEST_DECAY, 3, { 1, 1e-19, 1 }, 0 } },
      3,
      0 },
    { GDN,
      { KNOWN, .schedule = ATTEST_SCHEDULE_CHUNK },
      0,
      { { ATTEST_Q, 1, { 1e13 }, 0 },
        { ATTEST_K, 2, { 1e-30, 0 }, 0 },
        { ATTEST_V, 2, { 1e10, 0 }, 0 },
        ONE(ATTEST_BETA),
        { ATTEST_DECAY, 3, { 1, 1e-15, 1 }, 0 } },
      3,
      1.4012984643e-22 },
};

static void must(attest_status status, const attest_error *err) { ck_assert_msg(status == ATTEST_OK, "%s", err->text); }

static void fill(attest_bundle *inputs, const values *given)
{
    attest_tensor *t = attest_bundle_role(inputs, given->role);
    ck_assert_ptr_nonnull(t);
    for (int64_t n = 0; n < attest_tensor_count(t); n++) {
        const int64_t at = given->period ? n % given->period : n;
        attest_store_bits(t, n, attest_from_f64(t->dtype, given->x[at < given->count ? at : given->count - 1]));
    }
}

static attest_element judge(const blamed *x)
{
    const attest_tensor_id id = { ATTEST_KIND_ROLE, ATTEST_O };
    attest_error err = { 0 };
    attest_case c;
    attest_bundle *inputs = NULL, *outputs = NULL;
    attest_truth *truth = NULL;
    attest_tensor *o;
    attest_element element;
    must(attest_case_parse(&c, x->line, NULL, NULL, &err), &err);
    must(attest_bundle_new(&inputs, &err), &err);
    must(attest_draw_missing(inputs, &c, 0, 0, &err), &err);
    for (int g = 0; g < ROLES && x->given[g].count; g++)
        fill(inputs, &x->given[g]);
    must(attest_truth_new(&truth, &c.problem, inputs, ATTEST_ENGINE_BALL, &err), &err);
    must(attest_bundle_new(&outputs, &err), &err);
    must(attest_bundle_add(outputs, &c.problem, id, 0, &o, &err), &err);
    attest_store_bits(o, x->i, attest_from_f64(o->dtype, x->o));
    must(attest_judge_row(&element, NULL, truth, &x->n, x->flags, id, o, (attest_row){ 0, 0, x->i }, &err), &err);
    attest_truth_free(truth);
    attest_bundle_free(outputs);
    attest_bundle_free(inputs);
    return element;
}

static void inside(const blamed *x)
{
    const attest_element e = judge(x);
    ck_assert_msg(!(e.ratio_lo > 1), "%s: %g of %g, got %g, truth %g", x->line, e.ratio_lo, e.bound, x->o, e.truth_lo);
}

START_TEST(by_hand) { inside(&table[_i]); }
END_TEST

/* Pairs of a parallel kernel: gamma^4 as an exponential of four logarithms. */
START_TEST(a_power_by_logarithms)
{
    static const uint32_t schedules[] = { ATTEST_SCHEDULE_DIRECT, ATTEST_SCHEDULE_TWO_PASS, ATTEST_SCHEDULE_SPLIT };
    for (int k = 0; k < 96; k++) {
        const float gamma = 1.95e-8f * (float)(1 + (k / 3) / 64.0);
        const blamed x = { "variant=retnet n=8 d=1 e=1 scale=1",
                           { KNOWN, .schedule = schedules[k % 3], .splits = 1 },
                           0,
                           { ONE(ATTEST_Q),
                             ONE(ATTEST_K),
                             { ATTEST_V, 5, { 0, 0, 0, 1, 0 }, 0 },
                             { ATTEST_GAMMA, 1, { (double)gamma }, 0 } },
                           7,
                           expf(4 * logf(gamma)) };
        inside(&x);
    }
}
END_TEST

/* An undeclared kernel may have chunks of its own, and an exponential, off by what it declares, at the end of each. */
START_TEST(chunks_of_its_own)
{
    static const char *const lines[] = { "variant=simple-gla n=256 d=1 e=1 scale=1 chunk=64",
                                         "variant=gdn n=256 d=1 e=1 scale=1 chunk=64" };
    for (size_t k = 0; k < 2; k++)
        for (int chunk = 4; chunk <= 16; chunk *= 2) {
            const double a = attest_to_f64(ATTEST_F32, attest_from_f64(ATTEST_F32, 0.998));
            const blamed x = { lines[k],
                               { .struct_size = sizeof(attest_numerics), .exp_error = 0x1p-8 },
                               0,
                               { ONE(ATTEST_Q),
                                 { ATTEST_K, 2, { 1, 0 }, 0 },
                                 { ATTEST_V, 2, { 1, 0 }, 0 },
                                 { ATTEST_DECAY, 1, { a }, 0 },
                                 ONE(k ? ATTEST_BETA : ATTEST_Q) },
                               255,
                               pow(a, 255) * pow(1 + 0x1p-8, 256 / chunk - 1) };
            inside(&x);
        }
}
END_TEST

/* A chunk of one token: the state before it and the pair are read, not their sum, which is nearly zero here. */
START_TEST(pairs_of_one_token)
{
    enum { D = 4096 };
    const float c = 3276.49F * 0x1p-15F, b = 1.0F / (D * (D - 1.0F));
    float o = -(D - 1) * c; /* the first key writes c k; the second takes it away again, and q is orthogonal to k */
    for (int n = 1; n < D; n++)
        o += c;
    const blamed x = { "variant=deltanet n=2 d=4096 e=1 scale=1 chunk=1",
                       { KNOWN, PRODUCTS, .division = ATTEST_DIVISION_AFTER_SUM, .acc_unit = 0x1p-24 },
                       0,
                       { ONE(ATTEST_Q),
                         { ATTEST_K, 2, { 1 - D, 1 }, D },
                         { ATTEST_V, 2, { (double)c, 0 }, 0 },
                         { ATTEST_BETA, 2, { 1, (double)b }, 0 } },
                       1,
                       (double)o };
    ck_assert(fabsf(o) > 0x1p-6F);
    inside(&x);
}
END_TEST

/* o of scores q k_j = k_j, weights e^(s - M), M their maximum, by a divisor with `extra` e^(-M) more: a sink that is no
 * part of the maximum, or an eps.  Beyond the range of float that is infinite, and o is 0. */
static double divided(const values *k, const values *v, float sink, float eps)
{
    float high = -INFINITY, l = 0, u = 0;
    for (int j = 0; j < k->count; j++)
        high = fmaxf(high, (float)k->x[j]);
    for (int j = 0; j < k->count; j++) {
        const float w = expf((float)k->x[j] - high);
        l += w;
        u += (float)attest_to_f64(ATTEST_F16, attest_from_f64(ATTEST_F16, w)) * (float)v->x[j];
    }
    return (double)(u / (l + (eps > 0 ? eps * expf(-high) : expf(sink - high))));
}

static const struct {
    const char *line;
    double k[2], v[2], sink;
} beyond[] = {
    { "variant=softmax1 n=1 m=2 d=1 e=1 scale=1", { -50, -50.5 }, { 1e4, -1 }, 40 },
    { "variant=softmax1 n=1 m=2 d=1 e=1 scale=1", { -90, -91 }, { 1e8, 1e8 }, 0 },
    { "variant=softmax eps=1e-3 n=1 m=2 d=1 e=1 scale=1 p=f16", { -97, -97.25 }, { 1e6, 1e6 }, 0 },
    { "variant=softmax eps=1e-3 n=1 m=2 d=1 e=1 scale=1", { -97, -99 }, { 1e6, 1e5 }, 0 },
};

/* R-SINK: by how much a kernel of two passes is off that has all of its o left. */
START_TEST(divisors_beyond_the_range)
{
    const values k = { ATTEST_K, 2, { beyond[_i].k[0], beyond[_i].k[1] }, 0 };
    const values v = { ATTEST_V, 2, { beyond[_i].v[0], beyond[_i].v[1] }, 0 };
    const int sunk = strstr(beyond[_i].line, "eps=") == NULL;
    const blamed x = { beyond[_i].line,
                       { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS, .division = ATTEST_DIVISION_AFTER_SUM,
                         .cast_in_sum = ATTEST_NO },
                       0,
                       { ONE(ATTEST_Q), k, v, { sunk ? ATTEST_SINK : ATTEST_Q, 1, { sunk ? beyond[_i].sink : 1 }, 0 } },
                       0,
                       divided(&k, &v, (float)beyond[_i].sink, sunk ? 0 : 1e-3F) };
    ck_assert(x.o == 0);
    inside(&x);
    blamed near = x; /* an output of usual size is not excused */
    near.o = 1e-3 * beyond[_i].v[0];
    ck_assert(judge(&near).ratio_lo > 1);
}
END_TEST

/* R-ALIBI: slope times the key, of 4000 keys: without the flag the bound is that of the near keys' distances. */
START_TEST(alibi_by_key)
{
    enum { KEYS = 4000 };
    static const double v[MOST] = { 1, -0.5, 0.25, 0.875, -1 };
    static float s[KEYS];
    const float slope = 0.1F;
    float l = 0, u = 0, high = 0;
    for (int j = 0; j < KEYS; j++)
        high = fmaxf(high, s[j] = 0 + slope * (float)j);
    for (int j = 0; j < KEYS; j++) {
        const float w = expf(s[j] - high);
        l += w;
        u += w * (float)v[j % MOST];
    }
    blamed x = { "variant=softmax alibi=draw mask=causal n=4000 d=1 e=1 scale=1",
                 { KNOWN, .schedule = ATTEST_SCHEDULE_TWO_PASS, .cast_in_sum = ATTEST_NO },
                 ATTEST_SERIAL_SUMS | ATTEST_ALIBI_BY_KEY,
                 { ONE(ATTEST_Q),
                   { ATTEST_K, 1, { 0 }, 0 },
                   { ATTEST_V, MOST, { v[0], v[1], v[2], v[3], v[4] }, MOST },
                   { ATTEST_SLOPE, 1, { (double)slope }, 0 } },
                 KEYS - 1,
                 (double)(u / l) };
    inside(&x);
    x.flags = ATTEST_SERIAL_SUMS;
    ck_assert_msg(judge(&x).ratio_lo > 1, "%g", judge(&x).ratio_lo);
}
END_TEST

Suite *suite_bound_blamed(void)
{
    Suite *s = suite_create("bound_blamed");
    TCase *t = tcase_create("blamed");
    tcase_add_loop_test(t, by_hand, 0, (int)(sizeof table / sizeof table[0]));
    tcase_add_test(t, a_power_by_logarithms);
    tcase_add_test(t, chunks_of_its_own);
    tcase_add_test(t, pairs_of_one_token);
    tcase_add_loop_test(t, divisors_beyond_the_range, 0, (int)(sizeof beyond / sizeof beyond[0]));
    tcase_add_test(t, alibi_by_key);
    suite_add_tcase(s, t);
    return s;
}

/* test_ball_steps.c - gates, floor, length, cap, alibi, clamp and the features unit and silu in balls, against values
 * by hand; the tie lemma stays out of them. */
#include "reference/judge/judge.h"
#include "tests/reference/ball/ball_case.h"

#include <math.h>
#include <stdio.h>

Suite *suite_ball_steps(void);

/* Two keys, d = e = 1: q = 1, scores 1 and 2 from k, v = 3 and 5, so power:1 gives weights 1 and 2. */
static void two_keys(ball_case *x, const char *line)
{
    ball_case_start(x, line, 0);
    ball_case_put(x, ATTEST_Q, 0, 0, 0, 0, 1);
    for (int j = 0; j < 2; j++) {
        ball_case_put(x, ATTEST_K, 0, 0, j, 0, j + 1);
        ball_case_put(x, ATTEST_V, 0, 0, j, 0, 2 * j + 3);
    }
    if (attest_bundle_role(x->bundle, ATTEST_GIN)) {
        ball_case_put(x, ATTEST_GIN, 0, 0, 0, 0, 0.5);
        ball_case_put(x, ATTEST_GIN, 0, 0, 1, 0, 4);
    }
    if (attest_bundle_role(x->bundle, ATTEST_GOUT))
        ball_case_put(x, ATTEST_GOUT, 0, 0, 0, 0, 0.25);
    if (attest_bundle_role(x->bundle, ATTEST_SLOPE))
        ball_case_put(x, ATTEST_SLOPE, 0, 0, 0, 0, 0.5);
    if (attest_bundle_role(x->bundle, ATTEST_BIAS)) {
        ball_case_put(x, ATTEST_BIAS, 0, 0, 0, 0, -0.5);
        ball_case_put(x, ATTEST_BIAS, 0, 0, 0, 1, 0.25);
    }
}

#define TWO "variant=linear n=1 m=2 d=1 e=1 scale=1 "

/* u, z, o of TWO: plain u = 3 + 10 = 13, gated in u = 1.5 + 40 = 41.5, z = 3. */
START_TEST(by_hand)
{
    static const struct {
        const char *line;
        double u, z, o;
    } table[] = {
        { TWO, 13, 3, 13 },
        { TWO "gates=in", 41.5, 3, 41.5 },
        { TWO "gates=out", 13, 3, 3.25 },
        { TWO "gates=inout", 41.5, 3, 10.375 },
        { TWO "gates=pre-out", 13, 3, 3.25 },
        { TWO "gates=in norm=floor:4", 41.5, 3, 10.375 },
        { TWO "norm=floor:1 clamp=1", 8, 2, 4 },
        { TWO "norm=floor:-1 clamp=1", 8, 2, 4 },
        { TWO "norm=length", 13, 3, 6.5 },
        { TWO "norm=length gates=pre-out", 13, 3, 1.625 },
        { TWO "clamp=1.5", 3 + 7.5, 2.5, 10.5 },
        { TWO "clamp=-2", -16, -4, -16 },
        { TWO "alibi=draw", 3 + 7.5, 2.5, 10.5 },                 /* |0-0| and |0-1| */
        { TWO "alibi=draw mask=causal-br", 1.5 + 10, 2.5, 11.5 }, /* the query stands at key 1 */
        { TWO "bias=full", 1.5 + 11.25, 2.75, 12.75 },
        { TWO "bias=shared clamp=0.75", 1.5 + 3.75, 1.25, 5.25 },               /* the clamp is last */
        { TWO "alibi=draw clamp=1.25 mask=causal-br", 1.5 + 6.25, 1.75, 7.75 }, /* the clamp is last */
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        two_keys(&x, table[t].line);
        ball_case_row(&x, 0, 0, 0, 128);
        ck_assert_msg(ball_is_double(x.row.u, table[t].u, 100), "%s: u", table[t].line);
        ck_assert_msg(ball_is_double(x.row.z, table[t].z, 100), "%s: z", table[t].line);
        ck_assert_msg(!x.row.illposed && ball_is_double(x.row.o, table[t].o, 48), "%s: o", table[t].line);
        ball_case_stop(&x);
    }
}
END_TEST

/* cap=2: s = 2 tanh(s/2) = 2 (e^s - 1)/(e^s + 1), before alibi, bias and clamp. */
START_TEST(soft_cap)
{
    static const char *const lines[] = { TWO "cap=2", TWO "cap=2 alibi=draw", TWO "cap=2 alibi=draw clamp=0.95",
                                         TWO "cap=2 bias=head" };
    for (int t = 0; t < 4; t++) {
        ball_case x;
        arb_t s, y;
        arb_init(s);
        arb_init(y);
        two_keys(&x, lines[t]);
        ball_case_row(&x, 0, 0, 0, 128);
        for (int j = 0; j < 2; j++) {
            arb_set_si(s, j + 1);
            arb_exp(s, s, 256);
            arb_add_ui(y, s, 1, 256);
            arb_sub_ui(s, s, 1, 256);
            arb_div(s, s, y, 256);
            arb_mul_2exp_si(s, s, 1);
            arb_set_d(y, t == 0 ? 0 : t == 3 ? 0.5 - 0.75 * j : 0.5 * j);
            arb_sub(s, s, y, 256);
            arb_set_d(y, 0.95);
            if (t == 2)
                arb_min(s, s, y, 256);
            ck_assert_msg(ball_is(x.row.s + j, s, 100), "%s: score %d", lines[t], j);
        }
        ball_case_stop(&x);
        arb_clear(s);
        arb_clear(y);
    }
}
END_TEST

/* alibi=usual: of 12 heads 2^-1..2^-8, then 2^-(1/2), 2^-(3/2), 2^-(5/2), 2^-(7/2): the squares of these are powers of
 * two; of 3 and of 1; of 16 2^-(1/2)..2^-8. */
START_TEST(usual_slopes)
{
    static const struct {
        const char *line;
        int halves[16]; /* the slope is 2^-(this/2) */
    } table[] = {
        { "hq=12 hkv=4", { 2, 4, 6, 8, 10, 12, 14, 16, 1, 3, 5, 7 } },
        { "hq=3", { 8, 16, 4 } },
        { "hq=1", { 16 } },
        { "hq=16", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 } },
        { "hq=6 hkv=2", { 4, 8, 12, 16, 2, 6 } },
    };
    arb_t square;
    arb_init(square);
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        char line[128];
        ball_case x;
        snprintf(line, sizeof line, "%s n=2 m=4 d=1 e=1 alibi=usual mask=causal-br", table[t].line);
        ball_case_start(&x, line, 0);
        ck_assert(!attest_bundle_role(x.bundle, ATTEST_SLOPE));
        for (int h = 0; h < x.in.p->hq; h++)
            for (slong prec = 64; prec <= 1024; prec *= 4) {
                mag_t size;
                mag_init(size);
                ball_case_row(&x, 0, h, 1, prec);
                ck_assert_int_eq(x.row.keys, 4);
                for (int j = 0; j < 4; j++) { /* the query stands at key 3 */
                    arb_mul(square, x.row.s + j, x.row.s + j, 2048);
                    ck_assert_msg(ball_is_double(square, (3 - j) * (3 - j) * exp2(-table[t].halves[h]), prec - 8) &&
                                      !arb_is_positive(x.row.s + j),
                                  "%s: head %d key %d", line, h, j);
                }
                axis_slope_size(size, &x.in, h);
                ck_assert(mag_get_d(size) >= exp2(-0.5 * table[t].halves[h]) &&
                          mag_get_d(size) < exp2(-0.5 * table[t].halves[h]) * (1 + 0x1p-20));
                const double exact = axis_slope(&x.in, h);
                ck_assert(table[t].halves[h] % 2 ? isnan(exact) : exact == exp2(-0.5 * table[t].halves[h]));
                mag_clear(size);
            }
        ball_case_stop(&x);
    }
    arb_clear(square);
}
END_TEST

/* The slope is the query head's; the position counts from the batch entry's own length. */
START_TEST(alibi_heads_and_lens)
{
    ball_case x;
    ball_case_start(&x, "hq=2 hkv=1 n=2 m=4 d=1 e=1 alibi=draw mask=causal-br lens=draw", 0);
    const attest_tensor *len = attest_bundle_role(x.bundle, ATTEST_KV_LENS);
    attest_store_bits(len, 0, 3);
    ball_case_put(&x, ATTEST_SLOPE, 0, 0, 0, 0, 0.5);
    ball_case_put(&x, ATTEST_SLOPE, 1, 0, 0, 0, 0.25);
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < 2; i++) {
            ball_case_row(&x, 0, h, i, 128);
            ck_assert_int_eq(x.row.keys, i + 2); /* off = 3 - 2 */
            for (int j = 0; j < i + 2; j++)
                ck_assert_msg(ball_is_double(x.row.s + j, -(h ? 0.25 : 0.5) * (i + 1 - j), 100), "%d %d %d", h, i, j);
        }
    ball_case_stop(&x);
}
END_TEST

/* Which element of the tensor is read, by the value of the axis: every one is another number. */
START_TEST(bias_broadcasts)
{
    static const struct {
        const char *value;
        int batches, heads;
    } table[] = { { "full", 2, 4 }, { "head", 1, 4 }, { "batch", 2, 1 }, { "shared", 1, 1 } };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        char line[128];
        ball_case x;
        snprintf(line, sizeof line, "b=2 hq=4 hkv=2 n=2 m=3 d=1 e=1 bias=%s", table[t].value);
        ball_case_start(&x, line, 0);
        const attest_tensor *bias = attest_bundle_role(x.bundle, ATTEST_BIAS);
        ck_assert_int_eq(bias->shape[0], table[t].batches);
        ck_assert_int_eq(bias->shape[1], table[t].heads);
        for (int64_t at = 0; at < attest_tensor_count(bias); at++)
            attest_store_bits(bias, at, attest_from_f64(bias->dtype, (double)at));
        for (int64_t row = 0; row < 2 * 4 * 2; row++) {
            const int64_t b = row / 8, h = row / 2 % 4, i = row % 2;
            const int64_t first = ((table[t].batches > 1 ? b : 0) * table[t].heads + (table[t].heads > 1 ? h : 0)) * 2;
            ball_case_row(&x, b, h, i, 128);
            for (int64_t j = 0; j < 3; j++)
                ck_assert_msg(ball_is_double(x.row.s + j, (double)((first + i) * 3 + j), 100), "%s: %d %d", line,
                              (int)row, (int)j);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* Which byte of the tensor is read, by the value of the axis: one key of each row is shown, another for each. */
START_TEST(masks_broadcast)
{
    static const struct {
        const char *value;
        int batches, heads;
    } table[] = { { "full", 2, 4 }, { "head", 1, 4 }, { "batch", 2, 1 }, { "shared", 1, 1 } };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        char line[128];
        ball_case x;
        snprintf(line, sizeof line, "b=2 hq=4 hkv=2 n=2 m=16 d=1 e=1 attn_mask=%s", table[t].value);
        ball_case_start(&x, line, 0);
        const attest_tensor *mask = attest_bundle_role(x.bundle, ATTEST_MASK);
        ck_assert(mask->dtype == ATTEST_BOOL && mask->shape[0] == table[t].batches && mask->shape[1] == table[t].heads);
        for (int64_t at = 0; at < attest_tensor_count(mask); at++)
            attest_store_bits(mask, at, at % 16 == at / 16);
        for (int64_t row = 0; row < 2 * 4 * 2; row++) {
            const int64_t b = row / 8, h = row / 2 % 4, i = row % 2;
            const int64_t first = ((table[t].batches > 1 ? b : 0) * table[t].heads + (table[t].heads > 1 ? h : 0)) * 2;
            ball_case_row(&x, b, h, i, 128);
            ck_assert_msg(x.row.keys == 1 && x.row.key[0] == first + i, "%s: %d", line, (int)row);
        }
        ball_case_stop(&x);
    }
}
END_TEST

/* Keys 0 and 3 are hidden: what they hold is not read, and they count in no length, center or filter. */
START_TEST(masked_keys_are_none)
{
    static const struct {
        const char *line;
        double score[4], u, o;
    } table[] = { { "variant=linear norm=length", { 900, 2, 4, -900 }, 2 * 5 + 4 * 6, 17 },
                  { "variant=taylor:1 center=max", { 900, 2, 4, -900 }, -1 * 5 + 6, 0 },
                  { "variant=taylor:1 center=min", { 900, 2, 4, -900 }, 5 + 3 * 6, 0 },
                  { "variant=linear filter=2 norm=none", { 900, 2, 4, -900 }, 4 * 6, 24 },
                  { "variant=linear filter=2.5 norm=none", { 900, 2, 4, -900 }, 2 * 5 + 4 * 6, 34 } };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
        for (int poisoned = 0; poisoned < 2; poisoned++) {
            char line[128];
            ball_case x;
            snprintf(line, sizeof line, "%s attn_mask=shared n=1 m=4 d=1 e=1 scale=1", table[t].line);
            ball_case_start(&x, line, 0);
            ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 1);
            for (int j = 0; j < 4; j++) {
                const int hidden = j == 0 || j == 3;
                ball_case_put(&x, ATTEST_K, 0, 0, j, 0, poisoned && hidden ? (double)NAN : table[t].score[j]);
                ball_case_put(&x, ATTEST_V, 0, 0, j, 0, poisoned && hidden ? (double)INFINITY : 4 + j);
                attest_store_bits(attest_bundle_role(x.bundle, ATTEST_MASK), j, !hidden);
            }
            ball_case_row(&x, 0, 0, 0, 128);
            ck_assert_msg(!x.row.no_truth && x.row.keys == 2 && x.row.key[0] == 1 && x.row.key[1] == 2, "%s", line);
            ck_assert_msg(ball_is_double(x.row.u, table[t].u, 100), "%s", line);
            if (table[t].o > 0)
                ck_assert_msg(ball_is_double(x.row.o, table[t].o, 100), "%s", line);
            for (int j = 0; j < 4; j++)
                attest_store_bits(attest_bundle_role(x.bundle, ATTEST_MASK), j, 0);
            ball_case_row(&x, 0, 0, 0, 128);
            ck_assert_msg(x.row.empty && x.row.keys == 0 && arb_is_zero(x.row.o), "%s: all masked", line);
            ball_case_stop(&x);
        }
}
END_TEST

START_TEST(empty_illposed_and_unread)
{
    static const struct {
        const char *line;
        attest_role role;
        int empty;
    } table[] = {
        { "n=2 m=1 d=1 e=1 mask=causal-br norm=length gates=out", ATTEST_GOUT, 1 },
        { "n=2 m=1 d=1 e=1 mask=causal-br gates=pre-out norm=floor:0", ATTEST_GOUT, 1 },
        { "n=2 m=1 d=1 e=1 mask=causal-br alibi=draw", ATTEST_SLOPE, 1 },
        { "n=2 m=2 d=1 e=1 gates=inout", ATTEST_GOUT, 0 },
        { "n=2 m=2 d=1 e=1 gates=in", ATTEST_GIN, 0 },
        { "n=2 m=2 d=1 e=1 alibi=draw", ATTEST_SLOPE, 0 },
        { "n=2 m=1 d=1 e=1 mask=causal-br bias=full", ATTEST_BIAS, 1 },
        { "n=2 m=2 d=1 e=1 bias=full", ATTEST_BIAS, 0 },
    };
    ball_case x;
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case_start(&x, table[t].line, 1);
        ball_case_put(&x, table[t].role, 0, 0, 0, 0, NAN);
        ball_case_row(&x, 0, 0, 0, 128);
        ck_assert_msg(x.row.empty == table[t].empty && x.row.no_truth == !table[t].empty, "%s", table[t].line);
        if (table[t].empty)
            ck_assert_msg(arb_is_zero(x.row.o) && arb_is_zero(x.row.u) && arb_is_zero(x.row.z), "%s", table[t].line);
        ball_case_stop(&x);
    }
    ball_case_start(&x, "n=2 m=2 d=1 e=1 gates=in mask=causal", 1);
    ball_case_put(&x, ATTEST_GIN, 0, 0, 1, 0, NAN); /* not visible to query 0 */
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert(!x.row.no_truth);
    ball_case_stop(&x);
    two_keys(&x, "variant=linear n=1 m=2 d=1 e=1 scale=-1 norm=floor:0"); /* z = -3: the floor 0 divides */
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert(x.row.illposed && !x.row.no_truth);
    ball_case_stop(&x);
}
END_TEST

/* unit, silu and silu-unit of q = (3, -4), k = (0, 2) and k = 0, through the scores of power:1. */
START_TEST(features)
{
    static const char *const lines[] = { "variant=linear feature=unit n=1 m=2 d=2 e=1 scale=1",
                                         "variant=linear feature=silu n=1 m=2 d=2 e=1 scale=1",
                                         "variant=linear feature=silu-unit n=1 m=2 d=2 e=1 scale=1" };
    for (int t = 0; t < 3; t++) {
        ball_case x;
        arb_t a, b, y;
        arb_init(a);
        arb_init(b);
        arb_init(y);
        ball_case_start(&x, lines[t], 0);
        ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, 3);
        ball_case_put(&x, ATTEST_Q, 0, 0, 0, 1, -4);
        ball_case_put(&x, ATTEST_K, 0, 0, 0, 1, 2);
        ball_case_row(&x, 0, 0, 0, 128);
        ck_assert_msg(arb_is_zero(x.row.s + 1), "%s: the zero key", x.line);
        const double point[3] = { 3, -4, 2 };
        arb_ptr silu = _arb_vec_init(3);
        for (int c = 0; c < 3; c++) { /* x (1 + tanh(x/2))/2 */
            arb_set_d(a, point[c] / 2);
            arb_tanh(b, a, 256);
            arb_add_ui(b, b, 1, 256);
            arb_mul(silu + c, a, b, 256);
        }
        arb_mul(y, silu + 1, silu + 2, 256);
        if (t == 0) {
            arb_set_si(y, -4);
            arb_div_ui(y, y, 5, 256);
        } else if (t == 2) {
            arb_hypot(a, silu, silu + 1, 256);
            arb_div(y, silu + 1, a, 256);
        }
        ck_assert_msg(ball_is(x.row.s, y, 100), "%s: the score", x.line);
        _arb_vec_clear(silu, 3);
        arb_clear(a);
        arb_clear(b);
        arb_clear(y);
        ball_case_stop(&x);
    }
}
END_TEST

/* A large negative number has a silu near 0, and a NaN has none. */
START_TEST(feature_edges)
{
    ball_case x;
    ball_case_start(&x, "variant=linear feature=silu n=1 m=2 d=1 e=1 scale=1 in=f64", 0);
    ball_case_put(&x, ATTEST_Q, 0, 0, 0, 0, -1e5);
    ball_case_put(&x, ATTEST_K, 0, 0, 0, 0, 1e5);
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert(arb_is_finite(x.row.s) && arb_is_negative(x.row.s));
    ball_case_put(&x, ATTEST_K, 0, 0, 1, 0, -INFINITY);
    ball_case_row(&x, 0, 0, 0, 128);
    ck_assert(x.row.no_truth);
    ball_case_stop(&x);
}
END_TEST

/* The tie lemma says nothing where it was not proved, whatever the candidate. */
START_TEST(no_tie_lemma)
{
    static const char *const lines[] = {
        "gates=in",
        "gates=out",
        "gates=inout",
        "gates=pre-out",
        "gates=heads",
        "norm=floor:1",
        "norm=length",
        "norm=l2",
        "norm=rms",
        "norm=layernorm",
        "norm=length-l2",
        "norm=length-rms affine=draw",
        "norm=length-layernorm",
        "feature=unit",
        "feature=silu",
        "feature=silu-unit",
        "feature=cosformer",
        "clamp=5",
        "cap=5",
        "alibi=draw",
        "alibi=usual",
        "rope=2",
        "filter=2",
        "mask=causal decay=retnet",
        "mask=causal decay=scalar",
        "mask=causal weight=power:1 decay=vector",
        "mask=causal weight=power:1 norm=none update=delta",
        "mask=causal weight=power:1 norm=none update=efla",
    };
    for (size_t t = 0; t < 2 * sizeof lines / sizeof lines[0]; t++) {
        char line[128];
        ball_case x;
        mpq_t zero;
        snprintf(line, sizeof line, "variant=%s n=2 m=2 d=2 e=1 %s", t % 2 ? "taylor:2" : "softmax", lines[t / 2]);
        ball_case_start(&x, line, t < sizeof lines / sizeof lines[0]); /* drawn, or zero: o = 0 then */
        mpq_init(zero);
        ck_assert_msg(ref_tie(&x.in, (attest_row){ 0, 0, 0 }, 0, zero) == -1, "%s: tie", line);
        mpq_clear(zero);
        ball_case_stop(&x);
    }
}
END_TEST

/* A clamp may hide a NaN score (min(5, NaN) is 5 in C), so may a filter (NaN > x is false) and relu; decays, gates and
 * rotations multiply, which keeps it. */
#define ONE "n=1 m=1 d=2 e=1 mask=causal "
START_TEST(nan_scores)
{
    static const struct {
        const char *line;
        int q, v;
    } table[] = {
        { ONE, 1, 1 },
        { ONE "cap=5 alibi=draw", 1, 1 },
        { ONE "clamp=5", 0, 1 },
        { ONE "rope=10 decay=scalar gates=heads", 1, 1 },
        { ONE "weight=power:1 decay=vector", 1, 1 },
        { ONE "filter=1", 0, 0 },
        { ONE "feature=cosformer", 0, 1 },
        { ONE "weight=power:1 norm=none update=delta", 0, 0 },
        { ONE "weight=power:1 norm=none update=efla", 0, 0 },
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++)
        for (int role = 0; role < 2; role++) {
            ball_case x;
            ball_case_start(&x, table[t].line, 1);
            ball_case_put(&x, role ? ATTEST_V : ATTEST_Q, 0, 0, 0, 0, NAN);
            ck_assert_msg(judge_must_be_nan(&x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, 0 }, 0) ==
                              (role ? table[t].v : table[t].q),
                          "%s: %c", table[t].line, role ? 'v' : 'q');
            ball_case_stop(&x);
        }
}
END_TEST

/* The abs_scale of TWO with exp-free weights: sum |w gin v| |gout| / Z. */
START_TEST(abs_scales)
{
    static const struct {
        const char *line;
        double abs_scale;
    } table[] = {
        { TWO "gates=in", 41.5 },
        { TWO "gates=out", 3.25 },
        { TWO "gates=inout", 10.375 },
        { TWO "gates=pre-out", 3.25 },
        { TWO "norm=length", 6.5 },
        { TWO "norm=floor:4", 3.25 },
        { TWO "norm=floor:4 gates=inout", 41.5 / 16 },
        { TWO "weight=exp clamp=0 norm=floor:1", 5.5 },          /* w = 1, z = 2: (3 + 5 + |3 - 4| + 2 |5 - 4|)/2 */
        { TWO "weight=exp clamp=0 norm=floor:4", 5.25 },         /* (3 + 5 + 3 + 2 5)/4 */
        { TWO "weight=exp clamp=0 gates=in norm=length", 31.5 }, /* w = 1: (1.5 + 20 + 1.5 + 2 20)/2 */
    };
    for (size_t t = 0; t < sizeof table / sizeof table[0]; t++) {
        ball_case x;
        mag_t abs_scale;
        mag_init(abs_scale);
        two_keys(&x, table[t].line);
        ball_case_row(&x, 0, 0, 0, 128);
        MUST(ref_abs_scale_row(abs_scale, &x.row, &x.in, ROLE(ATTEST_O), (attest_row){ 0, 0, 0 }, &x.err), &x);
        const double got = ref_mag_upper(abs_scale), want = table[t].abs_scale;
        ck_assert_msg(got >= want && got < want * 1.001, "%s: abs_scale %g, not %g", table[t].line, got, want);
        mag_clear(abs_scale);
        ball_case_stop(&x);
    }
}
END_TEST

Suite *suite_ball_steps(void)
{
    Suite *s = suite_create("ball_steps");
    TCase *t = tcase_create("ball_steps");
    tcase_add_test(t, by_hand);
    tcase_add_test(t, soft_cap);
    tcase_add_test(t, alibi_heads_and_lens);
    tcase_add_test(t, usual_slopes);
    tcase_add_test(t, bias_broadcasts);
    tcase_add_test(t, masks_broadcast);
    tcase_add_test(t, masked_keys_are_none);
    tcase_add_test(t, empty_illposed_and_unread);
    tcase_add_test(t, features);
    tcase_add_test(t, feature_edges);
    tcase_add_test(t, no_tie_lemma);
    tcase_add_test(t, nan_scores);
    tcase_add_test(t, abs_scales);
    suite_add_tcase(s, t);
    return s;
}

/* test_tutorial.c - the worked example of a published step-by-step text on linear attention ("The cat sat on
 * the mat", 5 tokens, width 4), number for number.
 *
 * Source: chapter "Linear attention" of that tutorial, sections "Step-by-Step Calculation" (Q, K, numerator,
 * denominator, output), "Interpreting the Weights" (softmax weights, scale 1/2) and exercise 3 (causal and
 * full agree on the last token).  V is the 4x4 identity with a fifth row of halves.  The same Q, K, V are
 * committed as examples/tutorial/{q,k,v}.npy.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/npy/npy.h"
#include "reference/engine/engine.h"

#ifndef ATTEST_TEST_ROOT
#define ATTEST_TEST_ROOT "."
#endif

Suite *suite_tutorial(void);

enum { TOKENS = 5, WIDTH = 4 };

static const double table_q[TOKENS][WIDTH] = {
    { 1, 0, 1, 0 }, { 0, 2, 0, 1 }, { 1, 1, 1, 0 }, { 0, 0, 1, 1 }, { 1, 0, 0, 1 },
};
static const double table_k[TOKENS][WIDTH] = {
    { 0, 1, 0, 1 }, { 1, 0, 1, 0 }, { 1, 1, 0, 0 }, { 0, 0, 1, 1 }, { 1, 0, 0.5, 0.5 },
};
static const double table_v[TOKENS][WIDTH] = {
    { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 }, { 0.5, 0.5, 0.5, 0.5 },
};

/* Step 3, the numerators, and step 4, the denominators, as the exact fractions that the text's decimals are:
 * 12.7500 = 51/4, 45.5 = 91/2. */
static const char *const table_u[TOKENS][WIDTH] = {
    { "51/4", "59/4", "55/4", "55/4" }, { "67/4", "55/4", "63/4", "59/4" }, { "61/4", "65/4", "65/4", "61/4" },
    { "27/2", "27/2", "25/2", "29/2" }, { "55/4", "55/4", "55/4", "55/4" },
};
static const char *const table_z[TOKENS] = { "91/2", "103/2", "105/2", "45", "91/2" };
/* Step 2, the summary matrix phi(K)^T V and the column sums of phi(K): the states of degree 1. */
static const char *const table_kv[WIDTH][WIDTH] = {
    { "2", "3", "3", "2" },
    { "5/2", "3/2", "5/2", "3/2" },
    { "7/4", "11/4", "7/4", "11/4" },
    { "11/4", "7/4", "7/4", "11/4" },
};
static const char *const table_ksum[WIDTH] = { "8", "7", "15/2", "15/2" };
/* Step 5, the outputs, in units of 10^-4 as printed. */
static const long table_o[TOKENS][WIDTH] = {
    { 2802, 3242, 3022, 3022 }, { 3252, 2670, 3058, 2864 }, { 2905, 3095, 3095, 2905 },
    { 3000, 3000, 2778, 3222 }, { 3022, 3022, 3022, 3022 },
};
/* The softmax weights, in units of 10^-4 as printed. */
static const long table_softmax[TOKENS][TOKENS] = {
    { 1095, 2976, 1805, 1805, 2318 }, { 4026, 898, 2442, 1481, 1153 },  { 1519, 2505, 2505, 1519, 1951 },
    { 1903, 1903, 1154, 3137, 1903 }, { 1892, 1892, 1892, 1892, 2430 },
};

typedef struct example {
    attest_case c;
    attest_bundle *bundle;
    attest_truth *truth;
    attest_error err;
} example;

#define MUST(call, x) ck_assert_msg((call) == ATTEST_OK, "%s", (x)->err.text)

static void fill(example *x, attest_role role, const double table[TOKENS][WIDTH])
{
    attest_tensor *t = NULL;
    MUST(attest_bundle_add(x->bundle, &x->c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, role }, 0, &t, &x->err), x);
    ck_assert_int_eq(attest_tensor_count(t), TOKENS * WIDTH);
    for (int64_t i = 0; i < TOKENS; i++)
        for (int64_t c = 0; c < WIDTH; c++)
            attest_store_bits(t, attest_offset(t, 0, 0, i, c), attest_from_f64(t->dtype, table[i][c]));
}

static void start(example *x, const char *line)
{
    memset(x, 0, sizeof *x);
    MUST(attest_case_parse(&x->c, line, NULL, NULL, &x->err), x);
    MUST(attest_bundle_new(&x->bundle, &x->err), x);
    fill(x, ATTEST_Q, table_q);
    fill(x, ATTEST_K, table_k);
    fill(x, ATTEST_V, table_v);
    MUST(attest_truth_new(&x->truth, &x->c.problem, x->bundle, ATTEST_ENGINE_AUTO, &x->err), x);
}

static void stop(example *x)
{
    attest_truth_free(x->truth);
    attest_bundle_free(x->bundle);
}

static void decimals(example *x, attest_decimals *d, uint32_t kind, uint32_t index, int64_t count)
{
    MUST(attest_truth_decimals(d, x->truth, (attest_tensor_id){ kind, index }, 40, 0, &x->err), x);
    ck_assert_int_eq(d->count, count);
}

static void expect_fractions(example *x, uint32_t kind, uint32_t index, const char *const *table, int64_t count)
{
    attest_decimals d;
    decimals(x, &d, kind, index, count);
    ck_assert_ptr_nonnull(d.exact);
    for (int64_t n = 0; n < count; n++) {
        ck_assert_msg(strcmp(d.exact[n], table[n]) == 0, "tensor %u.%u element %d: %s, the text has %s", kind, index,
                      (int)n, d.exact[n], table[n]);
        ck_assert_str_eq(d.rad[n], "0");
    }
    attest_decimals_free(&d);
}

/* |value - printed/10^4| <= slack/10^6, in rationals. */
static int printed_as(const char *value, long printed, unsigned long slack)
{
    mpq_t v, t;
    mpq_inits(v, t, NULL);
    int good = mpq_set_str(v, value, 10) == 0;
    mpq_set_si(t, printed, 10000);
    mpq_canonicalize(t);
    mpq_sub(v, v, t);
    mpq_abs(v, v);
    mpq_set_ui(t, slack, 1000000);
    mpq_canonicalize(t);
    good = good && mpq_cmp(v, t) <= 0;
    mpq_clears(v, t, NULL);
    return good;
}

START_TEST(linear_tables)
{
    example x;
    attest_decimals o;
    start(&x, "variant=linear-elu scale=1 n=5 d=4");
    expect_fractions(&x, ATTEST_KIND_ROLE, ATTEST_U, &table_u[0][0], TOKENS * WIDTH);
    expect_fractions(&x, ATTEST_KIND_ROLE, ATTEST_Z, table_z, TOKENS);
    expect_fractions(&x, ATTEST_KIND_HT, 1, &table_kv[0][0], WIDTH * WIDTH);
    expect_fractions(&x, ATTEST_KIND_ZT, 1, table_ksum, WIDTH);
    decimals(&x, &o, ATTEST_KIND_ROLE, ATTEST_O, TOKENS * WIDTH);
    ck_assert_ptr_nonnull(o.exact);
    for (int i = 0; i < TOKENS; i++)
        for (int c = 0; c < WIDTH; c++) {
            mpq_t u, z;
            char text[64];
            mpq_inits(u, z, NULL);
            mpq_set_str(u, table_u[i][c], 10);
            mpq_set_str(z, table_z[i], 10);
            mpq_div(u, u, z);
            ck_assert_str_eq(o.exact[i * WIDTH + c], mpq_get_str(text, 10, u));
            ck_assert_msg(printed_as(o.exact[i * WIDTH + c], table_o[i][c], 50), "o[%d,%d] is not as printed", i, c);
            mpq_clears(u, z, NULL);
        }
    attest_decimals_free(&o);
    stop(&x);
}
END_TEST

/* |x - t| for a ball x and the text's t in units of 10^-4, surely at most slack 10^-6. */
static int ball_as(const arb_t x, long printed, slong slack)
{
    arb_t difference, limit;
    arb_init(difference);
    arb_init(limit);
    arb_set_si(limit, printed);
    arb_div_ui(limit, limit, 10000, 128);
    arb_sub(difference, x, limit, 128);
    arb_abs(difference, difference);
    arb_set_si(limit, slack);
    arb_div_ui(limit, limit, 1000000, 128);
    const int good = arb_le(difference, limit);
    arb_clear(difference);
    arb_clear(limit);
    return good;
}

/* Row c < 4 of V is the unit vector c, the last row is a half everywhere: o_c = w_c + w_4/2.  Both weights are
 * printed to 4 decimals, each within 0.5e-4 of the truth: |o_c - (t_c + t_4/2)| <= 0.5e-4 + 0.25e-4. */
START_TEST(softmax_weights)
{
    example x;
    start(&x, "variant=softmax scale=0.5 n=5 d=4");
    for (int i = 0; i < TOKENS; i++) {
        ref_row *row = NULL;
        MUST(ref_truth_row(&row, x.truth, (attest_row){ 0, 0, i }, 128, &x.err), &x);
        for (int c = 0; c < WIDTH; c++) {
            arb_t twice;
            arb_init(twice);
            arb_mul_2exp_si(twice, row->o + c, 1);
            ck_assert_msg(ball_as(twice, 2 * table_softmax[i][c] + table_softmax[i][TOKENS - 1], 150),
                          "o[%d,%d] is not what the printed weights give", i, c);
            arb_clear(twice);
        }
        for (int j = 0; j < TOKENS; j++) { /* the weights themselves: w_j / z within 0.5e-4 */
            arb_t weight;
            arb_init(weight);
            arb_div(weight, row->w + j, row->z, 128);
            ck_assert_msg(ball_as(weight, table_softmax[i][j], 50), "weight[%d,%d] is not as printed", i, j);
            arb_clear(weight);
        }
    }
    stop(&x);
    flint_cleanup();
}
END_TEST

/* Exercise 3: the last token sees every key in both, the first does not. */
START_TEST(causal_last_token)
{
    static const char *const lines[2][2] = {
        { "variant=linear-elu scale=1 n=5 d=4", "variant=linear-elu scale=1 n=5 d=4 mask=causal" },
        { "variant=softmax scale=0.5 n=5 d=4", "variant=softmax scale=0.5 n=5 d=4 mask=causal" },
    };
    for (int k = 0; k < 2; k++) {
        example full, causal;
        attest_decimals a, b;
        ref_row *row_full = NULL, *row_causal = NULL;
        start(&full, lines[k][0]);
        start(&causal, lines[k][1]);
        decimals(&full, &a, ATTEST_KIND_ROLE, ATTEST_O, TOKENS * WIDTH);
        decimals(&causal, &b, ATTEST_KIND_ROLE, ATTEST_O, TOKENS * WIDTH);
        MUST(ref_truth_row(&row_full, full.truth, (attest_row){ 0, 0, TOKENS - 1 }, 256, &full.err), &full);
        MUST(ref_truth_row(&row_causal, causal.truth, (attest_row){ 0, 0, TOKENS - 1 }, 256, &causal.err), &causal);
        for (int c = 0; c < WIDTH; c++) {
            const int n = (TOKENS - 1) * WIDTH + c;
            ck_assert_str_eq(a.mid[n], b.mid[n]);
            ck_assert_str_ne(a.mid[c], b.mid[c]);
            ck_assert(arb_overlaps(row_full->o + c, row_causal->o + c));
            ck_assert(k == 1 || strcmp(a.exact[n], b.exact[n]) == 0);
            ck_assert(k == 0 || !a.exact); /* e^s is no rational */
        }
        attest_decimals_free(&a);
        attest_decimals_free(&b);
        stop(&full);
        stop(&causal);
    }
    flint_cleanup();
}
END_TEST

START_TEST(committed_files)
{
    static const struct {
        const char *path;
        const double (*table)[WIDTH];
    } files[] = {
        { ATTEST_TEST_ROOT "/examples/tutorial/q.npy", table_q },
        { ATTEST_TEST_ROOT "/examples/tutorial/k.npy", table_k },
        { ATTEST_TEST_ROOT "/examples/tutorial/v.npy", table_v },
    };
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        attest_npy a;
        attest_error err;
        ck_assert_msg(attest_npy_read(&a, files[f].path, ATTEST_F32, &err) == ATTEST_OK, "%s", err.text);
        ck_assert(a.rank == 2 && a.shape[0] == TOKENS && a.shape[1] == WIDTH && a.dtype == ATTEST_F32);
        for (int i = 0; i < TOKENS; i++)
            for (int c = 0; c < WIDTH; c++)
                ck_assert((double)((const float *)a.data)[i * WIDTH + c] == files[f].table[i][c]);
        attest_npy_free(&a);
    }
}
END_TEST

Suite *suite_tutorial(void)
{
    Suite *suite = suite_create("tutorial");
    TCase *tables = tcase_create("tables");
    tcase_add_test(tables, linear_tables);
    tcase_add_test(tables, softmax_weights);
    tcase_add_test(tables, causal_last_token);
    tcase_add_test(tables, committed_files);
    suite_add_tcase(suite, tables);
    return suite;
}

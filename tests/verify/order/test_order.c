/* test_order.c - the smallest orders against the table that theory gives, the range of a trace, costs of a study. */
#include "verify/order/order.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/npy/npy.h"
#include "kernels/tensor/tensor.h"

Suite *suite_order(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

/* Minimal orders for max_j |w^T_j/w_j - 1| <= tolerance, computed beside attest (mpmath, 50 digits, worst rows by
 * bisection): theory A1.5, "True orders (mid / max)". */
static const struct {
    double range;
    int mid[3], max[3]; /* 2^-8, 2^-11, 2^-24 */
} theory[] = {
    { 1, { 4, 5, 8 }, { 5, 6, 11 } },       { 2, { 5, 7, 11 }, { 9, 10, 15 } },
    { 4, { 9, 10, 15 }, { 16, 17, 23 } },   { 8, { 16, 17, 23 }, { 30, 32, 38 } },
    { 16, { 30, 32, 38 }, { 59, 60, 67 } }, { 32, { 59, 60, 67 }, { 116, 118, 124 } },
};

START_TEST(equals_theory)
{
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    size_t at = 0;
    MUST(attest_order_read(&request, "1,2,4,8,16,32", "mid,max", NULL, &err));
    MUST(attest_order_measure(&orders, &request, &err));
    ck_assert_uint_eq(orders.count, 36);
    for (size_t r = 0; r < 6; r++)
        for (int c = 0; c < 2; c++)
            for (int t = 0; t < 3; t++, at++) {
                const attest_order_cell *cell = &orders.cell[at];
                ck_assert_msg(cell->range == theory[r].range &&
                                  cell->order == (c == 0 ? theory[r].mid : theory[r].max)[t],
                              "R=%g %s 2^%d: %lld", cell->range, cell->center, (int)log2(cell->tolerance),
                              (long long)cell->order);
                ck_assert(cell->at_hi <= cell->tolerance && cell->below_lo > cell->tolerance);
            }
    attest_orders_clear(&orders);
}
END_TEST

/* max_j |w^T_j/w_j - 1| of the row of n - 1 keys at x = a and one at x = b, in long doubles, from the formulas alone:
 * for many keys it comes near to the error of the cell, and never exceeds it. */
static long double row_error(int p, long double a, long double b, long double n)
{
    long double t[2] = { 0, 0 }, e[2] = { expl(a), expl(b) };
    for (int k = p; k >= 0; k--) {
        t[0] = k == p ? 1 : 1 + t[0] * a / (k + 1);
        t[1] = k == p ? 1 : 1 + t[1] * b / (k + 1);
    }
    const long double sum_t = (n - 1) * t[0] + t[1], sum_e = (n - 1) * e[0] + e[1];
    return fmaxl(fabsl(t[0] / sum_t * sum_e / e[0] - 1), fabsl(t[1] / sum_t * sum_e / e[1] - 1));
}

START_TEST(rows_come_near)
{
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    MUST(attest_order_read(&request, "0.5,2,3.7", "min,max", "bf16", &err));
    MUST(attest_order_measure(&orders, &request, &err));
    for (size_t i = 0; i < orders.count; i++) {
        const attest_order_cell *cell = &orders.cell[i];
        const long double far = strcmp(cell->center, "max") == 0 ? -(long double)cell->range : cell->range;
        long double here = 0, below = 0;
        for (int flip = 0; flip < 2; flip++) {
            here = fmaxl(here, row_error((int)cell->order, flip ? far : 0, flip ? 0 : far, 1e9L));
            below = fmaxl(below, row_error((int)cell->order - 1, flip ? far : 0, flip ? 0 : far, 1e9L));
        }
        ck_assert_msg(here <= cell->tolerance && below > cell->tolerance, "R=%g %s: %Lg %Lg", cell->range, cell->center,
                      here, below);
    }
    attest_orders_clear(&orders);
}
END_TEST

START_TEST(own_roundings_and_limits)
{
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    MUST(attest_order_read(&request, "8,300", "mid", "f64,bf16", &err));
    MUST(attest_order_measure(&orders, &request, &err));
    ck_assert_uint_eq(orders.count, 8);
    ck_assert_str_eq(orders.cell[0].own, "bf16");
    ck_assert_str_eq(orders.cell[1].own, "");
    ck_assert_str_eq(orders.cell[3].own, "f64");
    ck_assert(orders.cell[3].tolerance == 0x1p-53 && orders.cell[3].order > orders.cell[2].order);
    ck_assert(orders.cell[4].order == -1 && isnan(orders.cell[4].at_hi) && orders.cell[4].below_lo > 1);
    attest_orders_clear(&orders);
    static const char *const bad[][3] = { { "0", NULL, NULL },      { "-1", NULL, NULL },  { "1,,2", NULL, NULL },
                                          { "nan", NULL, NULL },    { "2e6", NULL, NULL }, { "1", "left", NULL },
                                          { "1", "mid,mid", NULL }, { "1", NULL, "fp8" },  { "1", NULL, "f32,f32" },
                                          { "1", "", NULL },        { "1x", NULL, NULL } };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        ck_assert_int_eq(attest_order_read(&request, bad[i][0], bad[i][1], bad[i][2], &err), ATTEST_BAD_INPUT);
}
END_TEST

/* A range that no order up to the largest serves is answered, however large it is; its error is that of a smaller one,
 * from below, for those rows are among its own. */
START_TEST(ranges_beyond_every_order)
{
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    MUST(attest_order_read(&request, "1024,20000,1e6", "mid,min,max,zero", "f64,bf16", &err));
    MUST(attest_order_measure(&orders, &request, &err));
    ck_assert_uint_eq(orders.count, 3 * 4 * 4);
    for (size_t i = 0; i < orders.count; i++) {
        const attest_order_cell *cell = &orders.cell[i];
        ck_assert_msg(cell->order == -1 && isnan(cell->at_hi) && cell->below_lo > 0.5 &&
                          cell->below_lo == orders.cell[i % 16].below_lo,
                      "%s %g: %lld, %g", cell->center, cell->range, (long long)cell->order, cell->below_lo);
    }
    ck_assert(orders.cell[47].range == 1e6);
    attest_orders_clear(&orders);
}
END_TEST

/* ---- a folder ---------------------------------------------------------------------------------------------------- */
static char folder[] = "/tmp/attest-order-XXXXXX";

static void setup(void)
{
    strcpy(folder, "/tmp/attest-order-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

/* FOLDER/NAME.npy: [1,heads,count,1] of f32. */
static void write_npy(const char *name, int64_t heads, int64_t count, float *values)
{
    attest_error err = { "" };
    char path[256];
    attest_tensor t = { .struct_size = sizeof t };
    attest_problem p;
    attest_case c;
    char line[64];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    snprintf(line, sizeof line, "hq=%lld n=%lld d=1", (long long)heads, (long long)count);
    MUST(attest_case_parse(&c, line, NULL, NULL, &err));
    p = c.problem;
    attest_tensor_describe(&t, &p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_Q }, 0);
    t.data = values;
    MUST(attest_npy_write(path, &t, &err));
}

START_TEST(range_of_a_trace)
{
    /* scale = 1 (d = 1): scores q k, head 0: {1,3} x {0,-1,1}: ranges 2 and 6; head 1: {0.5,0} x {4,8,8}: 2 and 0 */
    float q[] = { 1, 3, 0.5f, 0 }, k[] = { 0, -1, 1, 4, 8, 8 };
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    write_npy("q", 2, 2, q);
    write_npy("k", 2, 3, k);
    MUST(attest_order_read(&request, NULL, "mid,zero", "f32", &err));
    MUST(attest_order_trace(&orders, &request, folder, NULL, &err));
    ck_assert_uint_eq(orders.count, 12);
    static const double ranges[] = { 6, 3, 2, 4 };
    for (size_t i = 0; i < 12; i++) {
        ck_assert_str_eq(orders.cell[i].head, i < 6 ? "b0 h0" : "b0 h1");
        ck_assert_msg(orders.cell[i].range >= ranges[i / 3] && orders.cell[i].range < ranges[i / 3] * (1 + 1e-8),
                      "cell %zu: %.17g", i, orders.cell[i].range);
    }
    attest_orders_clear(&orders);
    MUST(attest_order_trace(&orders, &request, folder, "mask=causal", &err)); /* query 1 of head 0 sees 0, -3 */
    ck_assert(fabs(orders.cell[0].range - 3) < 1e-12);
    attest_orders_clear(&orders);
    ck_assert_int_eq(attest_order_trace(&orders, &request, "/nowhere", NULL, &err), ATTEST_BAD_INPUT);
    ck_assert_int_eq(attest_order_trace(&orders, &request, folder, "alibi=draw", &err), ATTEST_BAD_INPUT);
    static const char *const others[] = { "variant=linear",   "norm=none",       "variant=softmax1",
                                          "variant=deltanet", "weight=taylor:2", "filter=0.5" };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ck_assert_int_eq(attest_order_trace(&orders, &request, folder, others[i], &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, "softmax") != NULL, "%s: %s", others[i], err.text);
    }
    q[1] = INFINITY;
    write_npy("q", 2, 2, q);
    ck_assert_int_eq(attest_order_trace(&orders, &request, folder, NULL, &err), ATTEST_BAD_INPUT);
    attest_orders_clear(&orders);
}
END_TEST

static void add_cost(attest_results *results, const char *variant, const char *kernel, int64_t d, int64_t n,
                     double time)
{
    attest_error err = { "" };
    attest_result r;
    attest_result_init(&r);
    snprintf(r.series, sizeof r.series, "d=%lld %s %s", (long long)d, variant, kernel);
    snprintf(r.variant, sizeof r.variant, "%s", variant);
    snprintf(r.kernel, sizeof r.kernel, "%s", kernel);
    r.n = n;
    r.d = d;
    r.ordinate = time;
    MUST(attest_results_add(results, &r, &err));
}

START_TEST(cost_beside_softmax)
{
    attest_error err = { "" };
    attest_order_request request;
    attest_orders orders = { 0 };
    attest_results results = { 0 };
    char path[256];
    add_cost(&results, "taylor:4", "taylor-packed-f32", 2, 4096, 3);
    add_cost(&results, "taylor:4", "taylor-recurrent-f32", 4, 64, 5);
    add_cost(&results, "taylor:4", "taylor-recurrent-f32", 4, 4096, 80);
    add_cost(&results, "taylor:4", "taylor-packed-f32", 4, 4096, 40);
    add_cost(&results, "shifted:4", "taylor-direct-f32", 4, 4096, 7000);
    add_cost(&results, "softmax", "softmax-flash-f32", 4, 64, 1);
    add_cost(&results, "softmax", "softmax-online-f32", 4, 4096, 900);
    add_cost(&results, "softmax", "softmax-flash-f32", 4, 4096, 160);
    add_cost(&results, "softmax", "softmax-flash-f32", 2, 4096, 9);
    add_cost(&results, "softmax", "softmax-flash-f32", 4, 65536, 1);
    snprintf(path, sizeof path, "%s/study-cost.jsonl", folder);
    MUST(attest_order_read(&request, "0.5,0.75", "zero,max,mid", "bf16", &err));
    MUST(attest_order_measure(&orders, &request, &err));
    ck_assert_int_eq(attest_order_cost(&orders, folder, &err), ATTEST_BAD_INPUT);
    MUST(attest_results_write_jsonl(&results, path, &err));
    MUST(attest_order_cost(&orders, folder, &err));
    int of_mid = 0;
    for (size_t i = 0; i < orders.count; i++) {
        const attest_order_cell *c = &orders.cell[i];
        const int zero = strcmp(c->center, "zero") == 0, max = strcmp(c->center, "max") == 0;
        of_mid += !zero && !max && c->order == 4;
        ck_assert_int_eq(c->cost_n,
                         c->order == 4 && (zero || max) ? 4096 : 0); /* no other order, no mid was measured */
        ck_assert_int_eq(c->cost_d, c->cost_n ? 4 : 0);
        ck_assert(!c->cost_n || (c->cost == (zero ? 40 : 7000) && c->cost_softmax == 160));
        ck_assert_str_eq(c->cost_kernel, !c->cost_n ? "" : zero ? "taylor-packed-f32" : "taylor-direct-f32");
    }
    ck_assert(orders.cell[0].cost_n == 4096 && of_mid > 0);
    attest_results_clear(&results);
    attest_orders_clear(&orders);
}
END_TEST

Suite *suite_order(void)
{
    Suite *suite = suite_create("order");
    TCase *orders = tcase_create("order"), *files = tcase_create("files");
    tcase_add_test(orders, equals_theory);
    tcase_add_test(orders, rows_come_near);
    tcase_add_test(orders, own_roundings_and_limits);
    tcase_add_test(orders, ranges_beyond_every_order);
    tcase_add_checked_fixture(files, setup, teardown);
    tcase_add_test(files, range_of_a_trace);
    tcase_add_test(files, cost_beside_softmax);
    suite_add_tcase(suite, orders);
    suite_add_tcase(suite, files);
    return suite;
}

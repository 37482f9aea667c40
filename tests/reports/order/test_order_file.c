/* test_order_file.c - the table of orders: to a file and back, as text, on the page. */
#include "reports/order/order.h"
#include "tests/reports/report_cases.h"

Suite *suite_order_file(void);

static attest_orders table_of(const char *head)
{
    attest_orders orders = { 0 };
    attest_error err = { "" };
    for (int i = 0; i < 8; i++) {
        attest_order_cell cell = { .range = i < 4 ? 8 : 300, .tolerance = i % 2 ? 0x1p-11 : 0x1p-8 };
        cell.order = i < 4 ? 16 + i : -1;
        cell.at_hi = i < 4 ? 0x1.8p-9 : NAN;
        cell.below_lo = i < 2 ? 0x1.1p-7 : INFINITY;
        snprintf(cell.head, sizeof cell.head, "%s", head);
        snprintf(cell.center, sizeof cell.center, "%s", i % 4 < 2 ? "mid" : "max");
        snprintf(cell.own, sizeof cell.own, "%s", i % 2 ? "" : "bf16");
        if (i == 0) {
            cell.cost_n = 4096;
            cell.cost_d = 64;
            cell.cost = 40;
            cell.cost_softmax = 160;
            snprintf(cell.cost_kernel, sizeof cell.cost_kernel, "packed<&>");
        }
        ck_assert_int_eq(attest_orders_add(&orders, &cell, &err), ATTEST_OK);
    }
    return orders;
}

START_TEST(round_trip)
{
    attest_error err = { "" };
    attest_orders orders = table_of(""), back;
    ck_assert_int_eq(attest_orders_write(&orders, path_of("order.json"), &err), ATTEST_OK);
    ck_assert_msg(attest_orders_read(&back, path_of("order.json"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(back.count, orders.count);
    for (size_t i = 0; i < back.count; i++) {
        const attest_order_cell *a = &orders.cell[i], *b = &back.cell[i];
        ck_assert(a->range == b->range && a->tolerance == b->tolerance && a->order == b->order);
        ck_assert((a->at_hi == b->at_hi || (isnan(a->at_hi) && isnan(b->at_hi))) && a->below_lo == b->below_lo);
        ck_assert_str_eq(a->own, b->own);
        ck_assert_str_eq(a->cost_kernel, b->cost_kernel);
        ck_assert(a->cost_n == b->cost_n && a->cost_d == b->cost_d);
    }
    /* what was not measured is no 0 */
    ck_assert_uint_eq(occurrences(text_of("order.json"), "\"cost_ns\": null"), back.count - 1);
    for (size_t i = 1; i < back.count; i++)
        ck_assert(back.cell[i].cost == 0 && back.cell[i].cost_softmax == 0);
    FILE *out = fopen(path_of("lines"), "w");
    ck_assert_int_eq(attest_orders_print_json(out, &orders), ATTEST_OK);
    fclose(out);
    static const char none[] = "\"cost_n\":null,\"cost_d\":null,\"cost_ns\":null,\"cost_softmax_ns\":null,";
    ck_assert_uint_eq(occurrences(text_of("lines"), none), back.count - 1);
    ck_assert_ptr_nonnull(strstr(text_of("lines"), "\"cost_n\":4096,\"cost_d\":64,\"cost_ns\":40"));
    attest_orders_clear(&back);
    attest_orders_clear(&orders);
    static const char *const bad[] = { "{}", "[{}]", "[1]", "[{\"head\":1}]", "[", "" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        out = fopen(path_of("order.json"), "w");
        fputs(bad[i], out);
        fclose(out);
        ck_assert_int_eq(attest_orders_read(&back, path_of("order.json"), &err), ATTEST_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err.text, "order.json"));
    }
}
END_TEST

static const char *printed(attest_status (*print)(FILE *, const attest_orders *, attest_error *),
                           const attest_orders *orders)
{
    static char text[1 << 16];
    text[0] = '\0';
    attest_error err = { "" };
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_int_eq(print(out, orders, &err), ATTEST_OK);
    fclose(out);
    return text;
}

START_TEST(told)
{
    attest_orders orders = table_of("");
    const char *text = printed(attest_orders_print, &orders);
    ck_assert_ptr_nonnull(strstr(text, "40 ns, softmax 160 (0.25x), N=4096 d=64, packed<&>"));
    ck_assert_ptr_nonnull(strstr(text, "not in the study"));
    ck_assert_ptr_nonnull(strstr(text, "> 511"));
    ck_assert_ptr_nonnull(strstr(text, "no bound"));
    const char *html = printed(attest_orders_print_html, &orders);
    ck_assert_ptr_nonnull(strstr(html, "Which order do I need?"));
    ck_assert_ptr_nonnull(strstr(html, "mid, bf16 (2^-8)"));
    ck_assert_uint_eq(occurrences(html, "<tr>"), 3); /* heads, and a row a range */
    attest_orders_clear(&orders);
    orders = table_of("b0 h1");
    ck_assert_ptr_nonnull(strstr(printed(attest_orders_print, &orders), "b0 h1"));
    ck_assert_ptr_nonnull(strstr(printed(attest_orders_print_html, &orders), "b0 h1: 8"));
    attest_orders_clear(&orders);
    ck_assert_str_eq(printed(attest_orders_print_html, &orders), "");
}
END_TEST

/* The page opens with the table, right after the banner. */
START_TEST(opens_the_page)
{
    attest_error err = { "" };
    attest_orders orders = table_of("");
    attest_results results = samples(5);
    ck_assert_int_eq(attest_orders_write(&orders, path_of("order.json"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_results_write_jsonl(&results, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    const char *page = text_of("index.html");
    const char *table = strstr(page, "Which order do I need?");
    ck_assert(table && strstr(page, "banner") < table && table < strstr(page, "What needs attention"));
    ck_assert(strstr(page, "<h2>") + 4 == table);
    attest_results_clear(&results);
    attest_orders_clear(&orders);
}
END_TEST

Suite *suite_order_file(void)
{
    Suite *suite = suite_create("order_file");
    TCase *tests = tcase_create("order_file");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, round_trip);
    tcase_add_test(tests, told);
    tcase_add_test(tests, opens_the_page);
    suite_add_tcase(suite, tests);
    return suite;
}

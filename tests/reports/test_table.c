/* test_table.c - the one writer of tables and the one writer of JSON: each format, each rule of escaping. */
#include <math.h>

#include "tests/reports/report_cases.h"

/* One cell of text from outside, as a format writes it. */
static const char *cell_as(attest_table_format format, uint32_t flags, const char *text)
{
    const attest_column column = { .head = "h", .flags = flags };
    attest_error err;
    attest_table table;
    FILE *out = fopen(path_of("cell"), "w");
    attest_table_begin(&table, out, format, &column, 1);
    attest_table_cell(&table, "%s", text);
    ck_assert_int_eq(attest_table_end(&table, &err), ATTEST_OK);
    fclose(out);
    return text_of("cell");
}

START_TEST(text_from_outside)
{
    static const struct {
        attest_table_format format;
        uint32_t flags;
        const char *text, *written;
    } cells[] = {
        { ATTEST_TABLE_CSV, 0, "=cmd|' /C calc'!A0", "h\n'=cmd|' /C calc'!A0\n" },
        { ATTEST_TABLE_CSV, 0, "+1+1", "h\n'+1+1\n" },
        { ATTEST_TABLE_CSV, 0, "-2-3", "h\n'-2-3\n" },
        { ATTEST_TABLE_CSV, 0, "@SUM(A1)", "h\n'@SUM(A1)\n" },
        { ATTEST_TABLE_CSV, 0, "\t=1", "h\n'\t=1\n" },
        { ATTEST_TABLE_CSV, 0, "=1,2", "h\n\"'=1,2\"\n" },
        { ATTEST_TABLE_CSV, 0, "-0x1.8p+1", "h\n-0x1.8p+1\n" }, /* numbers stay numbers */
        { ATTEST_TABLE_CSV, 0, "-3.5e-07", "h\n-3.5e-07\n" },
        { ATTEST_TABLE_CSV, 0, "-inf", "h\n-inf\n" },
        { ATTEST_TABLE_CSV, 0, "-", "h\n-\n" },
        { ATTEST_TABLE_CSV, 0, "-0x1.8p-4 (-0.09375)", "h\n-0x1.8p-4 (-0.09375)\n" }, /* nor is a number in two forms */
        { ATTEST_TABLE_CSV, 0, "-1 (-2)+A1", "h\n'-1 (-2)+A1\n" },
        { ATTEST_TABLE_CSV, 0, "-1 (A1)", "h\n'-1 (A1)\n" },
        { ATTEST_TABLE_MARKDOWN, ATTEST_COLUMN_OUTSIDE, "<script>[x](y)|`z`",
          "| h |\n|---|\n| \\<script\\>\\[x\\](y)\\|\\`z\\` |\n" },
        { ATTEST_TABLE_MARKDOWN, ATTEST_COLUMN_OUTSIDE | ATTEST_COLUMN_CODE, "a | `b` <c>",
          "| h |\n|---|\n| `` a \\| `b` <c> `` |\n" },
        { ATTEST_TABLE_MARKDOWN, ATTEST_COLUMN_OUTSIDE | ATTEST_COLUMN_CODE, "``a`",
          "| h |\n|---|\n| ``` ``a` ``` |\n" },
        { ATTEST_TABLE_HTML, ATTEST_COLUMN_CODE, "<script>\"&",
          "<div class=\"wrap\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table><tr><th>h\n"
          "<tr><td><code>&lt;script&gt;&quot;&amp;</code>\n</table></div>\n" },
    };
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        const char *got = cell_as(cells[i].format, cells[i].flags, cells[i].text);
        ck_assert_msg(strcmp(got, cells[i].written) == 0, "`%s` becomes `%s`", cells[i].text, got);
    }
}
END_TEST

Suite *suite_table(void);

static const attest_column columns[] = {
    { .head = "name", .width = 6 },
    { .head = "n", .flags = ATTEST_COLUMN_RIGHT, .width = 4 },
    { .head = "what", .flags = ATTEST_COLUMN_CODE, .gap = 1, .class = "k" },
};

/* Two rows: plain ones, and one of marks that some format has to escape. */
static const char *told(attest_table_format format, const attest_column *column)
{
    attest_table table;
    attest_error err;
    FILE *out = fopen(path_of("table"), "w");
    attest_table_begin(&table, out, format, column, 3);
    attest_table_cell(&table, "a");
    attest_table_mark(&table, (attest_mark){ "bad", "\033[31m" });
    attest_table_count(&table, 12);
    attest_table_cell(&table, "%s", "plain");
    attest_table_cell(&table, "longer than it");
    attest_table_number(&table, __builtin_nan(""));
    attest_table_cell(&table, "%s", "<&\"|,\n`x`");
    ck_assert_int_eq(attest_table_end(&table, &err), ATTEST_OK);
    fclose(out);
    return text_of("table");
}

START_TEST(ratios_keep_their_side_of_1)
{
    static const struct {
        double ratio;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { 0.25, "0.25" },
        { 0.99949, "0.999" },
        { 0.9996, "0.9996" },
        { 1, "1" },
        { 1.00004, "1.00004" },
        { 1 - 0x1p-40, "0.999999999999" },
        { 76.123, "76.1" },
        { 1e-9, "1e-09" },
        { INFINITY, "inf" },
        { NAN, "-" },
    };
    char text[ATTEST_RATIO_TEXT];
    ck_assert_str_eq(attest_ratio_text(text, rows[_i].ratio), rows[_i].text);
}
END_TEST

START_TEST(test_formats)
{
    ck_assert_str_eq(told(ATTEST_TABLE_CONSOLE, columns), "name      n  what\n"
                                                          "a      \033[31m  12\033[0m  plain\n"
                                                          "longer than it    -  <&\"|,\n`x`\n");
    ck_assert_str_eq(told(ATTEST_TABLE_MARKDOWN, columns), "| name | n | what |\n|---|---:|---|\n"
                                                           "| a | 12 | plain |\n"
                                                           "| longer than it | - | <&\"\\|, `x` |\n");
    ck_assert_str_eq(told(ATTEST_TABLE_ALIGNED, columns),
                     "| name           | n  | what      |\n|----------------|----|-----------|\n"
                     "| a              | 12 | plain     |\n| longer than it | -  | <&\"\\|, `x` |\n");
    ck_assert_str_eq(told(ATTEST_TABLE_HTML, columns),
                     "<div class=\"wrap\" tabindex=\"0\" role=\"group\" aria-label=\"table\">"
                     "<table><tr><th>name<th class=\"n\">n<th>what\n"
                     "<tr><td>a<td class=\"n bad\">12<td class=\"k\"><code>plain</code>\n"
                     "<tr><td>longer than it<td class=\"n\">-"
                     "<td class=\"k\"><code>&lt;&amp;&quot;|, `x`</code>\n</table></div>\n");
    ck_assert_str_eq(told(ATTEST_TABLE_CSV, columns), "name,n,what\na,12,plain\nlonger than it,-,\"<&\"\"|,\n`x`\"\n");
}
END_TEST

/* A column that fits its widest cell; code marked inside a text. */
START_TEST(test_columns)
{
    attest_column own[3];
    memcpy(own, columns, sizeof own);
    own[0].flags = ATTEST_COLUMN_FIT;
    ck_assert_str_eq(told(ATTEST_TABLE_CONSOLE, own), "name              n  what\n"
                                                      "a              \033[31m  12\033[0m  plain\n"
                                                      "longer than it    -  <&\"|,\n`x`\n");
    own[2].flags = ATTEST_COLUMN_NOTED;
    ck_assert_ptr_nonnull(strstr(told(ATTEST_TABLE_HTML, own), "<td class=\"k\">&lt;&amp;&quot;|, <code>x</code>\n"));
}
END_TEST

/* No row: heads alone; 200 rows of a table that is kept until its end. */
START_TEST(test_sizes)
{
    attest_table table;
    attest_error err;
    FILE *out = fopen(path_of("sizes"), "w");
    attest_table_begin(&table, out, ATTEST_TABLE_MARKDOWN, columns, 3);
    ck_assert_int_eq(attest_table_end(&table, &err), ATTEST_OK);
    attest_table_begin(&table, out, ATTEST_TABLE_ALIGNED, columns, 3);
    for (int i = 0; i < 600; i++)
        attest_table_count(&table, i);
    attest_table_close(&table);
    fclose(out);
    ck_assert_uint_eq(occurrences(text_of("sizes"), "\n"), 2 + 202);
    ck_assert_ptr_nonnull(strstr(text_of("sizes"), "\n| 597  | 598 | 599  |\n"));
}
END_TEST

static const char *json_of(json_t *value)
{
    FILE *out = fopen(path_of("json"), "w");
    ck_assert_int_eq(attest_json_line(out, json_pack("[o]", value)), ATTEST_OK);
    fclose(out);
    return text_of("json");
}

START_TEST(test_json)
{
    static const struct {
        double x;
        const char *text;
    } numbers[] = {
        { 0, "[0]\n" },
        { -3, "[-3]\n" },
        { 0x1p53, "[9007199254740992]\n" },
        { 0.1, "[0.10000000000000001]\n" },
        { -0.0, "[-0.0]\n" },
        { INFINITY, "[\"inf\"]\n" },
        { -INFINITY, "[\"-inf\"]\n" },
        { NAN, "[null]\n" },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ck_assert_str_eq(json_of(attest_json_number(numbers[i].x)), numbers[i].text);
    ck_assert(strtod(json_of(attest_json_number(0x1.123456789abcdp+60)) + 1, NULL) == 0x1.123456789abcdp+60);
    ck_assert_str_eq(json_of(attest_json_pair(0.25, NAN)), "[[0.25,null]]\n");
    ck_assert_str_eq(json_of(attest_json_text("a\t\"\\\001")), "[\"a\\t\\\"\\\\\\u0001\"]\n");
    ck_assert_str_eq(json_of(attest_json_text("\xff")), "[\"?\"]\n");
    ck_assert_str_eq(json_of(json_pack("{s:i,s:i}", "z", 1, "a", 2)), "[{\"z\":1,\"a\":2}]\n");
    FILE *out = fopen(path_of("none"), "w");
    ck_assert_int_eq(attest_json_line(out, NULL), ATTEST_IO);
    fclose(out);
}
END_TEST

Suite *suite_table(void)
{
    Suite *s = suite_create("table");
    TCase *t = tcase_create("table");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_formats);
    tcase_add_test(t, test_columns);
    tcase_add_test(t, test_sizes);
    tcase_add_loop_test(t, ratios_keep_their_side_of_1, 0, 11);
    tcase_add_test(t, test_json);
    tcase_add_test(t, text_from_outside);
    suite_add_tcase(s, t);
    return s;
}

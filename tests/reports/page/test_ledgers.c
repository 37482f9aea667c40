/* test_ledgers.c - planted defects and the papers' statements on the page: totals, what is bad first, files that are
 * none; and what a drawing loses on its way into the page. */
#include "reports/page/drawing.h"
#include "reports/page/ledgers.h"
#include "tests/reports/report_cases.h"

Suite *suite_ledgers(void);

static const char caught[] =
    "{\"defect\":\"one\",\"base\":\"k\",\"what\":\"<b>\",\"cases\":9,\"differs\":8,\"killed\":7,"
    "\"by\":{\"bound\":7,\"lse\":2},\"margin\":3.5}\n";
static const char alive[] = "{\"defect\":\"two\",\"base\":\"k\",\"what\":\"w\",\"cases\":9,\"differs\":0,\"killed\":0,"
                            "\"by\":{},\"margin\":null}\n";
#define CLAIM(name, verdict, expected)                                                                                 \
    "{\"claim\":\"" name "\",\"statement\":\"s\",\"source\":\"eq. 1\",\"verdict\":\"" verdict                          \
    "\",\"expected\":\"" expected "\"}"

static void write_file(const char *name, const char *text, const char *more)
{
    FILE *out = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(out);
    fprintf(out, "%s%s", text, more);
    fclose(out);
}

static attest_status print(char **text, attest_error *err)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    const attest_status status = attest_ledgers_print(out, folder, err);
    fclose(out);
    return status;
}

static char *printed(void)
{
    attest_error err = { "" };
    char *text = NULL;
    ck_assert_msg(print(&text, &err) == ATTEST_OK, "%s", err.text);
    return text;
}

/* Each text in its place. */
static void check_order(const char *text, const char *const *what, size_t count)
{
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        at = strstr(at, what[i]);
        ck_assert_msg(at != NULL, "%s, in its place, in\n%s", what[i], text);
    }
}
#define CHECK_ORDER(text, what) check_order(text, what, sizeof(what) / sizeof *(what))

START_TEST(nothing_there)
{
    char *text = printed();
    static const char *const lines[] = { "Planted defects</h2>\n<p>Not in this folder: <code>attest defects --out DIR",
                                         "papers state</h2>\n<p>Not in this folder: <code>attest claims --out DIR" };
    CHECK_ORDER(text, lines);
    ck_assert_ptr_null(strstr(text, "<table"));
    free(text);
}
END_TEST

START_TEST(defects_survivors_first)
{
    static const char *const both[] = {
        "class=\"fail\">2 wrong kernels, each a correct one with one step replaced: 1 caught, 1 survives.",
        "<td class=\"fail\"><code>two</code><",
        "survives<td class=\"n\">0/0/9<td class=\"n\">-\n",
        "<code>one</code>",
        "&lt;b&gt;<td>bound, lse<td class=\"n\">7/8/9<td class=\"n\">3.5\n",
    };
    static const char *const good[] = { "class=\"pass\">1 wrong kernels", "1 caught, 0 survive." };
    write_file("defects.json", caught, alive);
    char *text = printed();
    CHECK_ORDER(text, both);
    free(text);
    write_file("defects.json", caught, "");
    text = printed();
    CHECK_ORDER(text, good);
    free(text);
}
END_TEST

START_TEST(claims_unexpected_first)
{
    static const char *const bad[] = {
        "class=\"fail\">5 statements: 2 hold, 1 hold under a condition, 1 are false as written, ",
        "1 cannot be checked here; 1 with another verdict than the expected one.",
        "<td class=\"fail\">C2<",
        "holds; expected: false as written\n",
        "<td>C1<",
        "<td>C3<",
    };
    static const char *const good[] = { "class=\"pass\">1 statements: 1 hold", "; 0 with another verdict" };
    write_file(
        "claims.json",
        "[" CLAIM("C1", "holds", "holds") "," CLAIM("C2", "holds", "false as written") "," CLAIM(
            "C3", "holds if n > 1", "holds if n > 1") "," CLAIM("C4", "false as written", "false as written") ",",
        CLAIM("C5", "not checkable here", "not checkable here") "]");
    char *text = printed();
    CHECK_ORDER(text, bad);
    free(text);
    write_file("claims.json", "[", CLAIM("C1", "holds", "holds") "]");
    text = printed();
    CHECK_ORDER(text, good);
    free(text);
}
END_TEST

START_TEST(other_files)
{
    static const struct {
        const char *name, *text, *says;
    } cases[] = {
        { "defects.json", "{\"defect\":\"one\"}\n", "row 1 is of another kind (`attest defects --out DIR`" },
        { "defects.json", "what\n", "defects.json:1: no JSON" },
        { "claims.json", "{}", "no array of rows (`attest claims --out DIR`" },
        { "claims.json", "[{\"claim\":\"C1\"}]", "row 1 is of another kind" },
        { "claims.json", "[", "claims.json" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        attest_error err = { "" };
        char *text = NULL;
        write_file(cases[i].name, cases[i].text, "");
        ck_assert_int_eq(print(&text, &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        ck_assert_int_eq(remove(path_of(cases[i].name)), 0);
        free(text);
    }
}
END_TEST

static char *drawn(const char *svg)
{
    char *text = NULL;
    size_t size;
    write_file("x.svg", svg, "");
    FILE *out = open_memstream(&text, &size);
    attest_drawing_print(out, folder, "x", "c");
    fclose(out);
    return text;
}

/* What draws nothing is left out; not where an element inside would inherit something else. */
START_TEST(drawings_lose_what_draws_nothing)
{
    char *text = drawn(
        "<svg><g stroke-linecap=\"butt\" stroke-linejoin=\"miter\" fill=\"none\">\n\t <path d='M 1,2 3,4'/>"
        "<g fill=\"none\"> </g><text>a b</text></g></svg>");
    ck_assert_msg(strstr(text, "<svg><g fill=\"none\">\n<path d='M 1,2 3,4'/><text>a b</text></g></svg>") != NULL, "%s",
                  text);
    free(text);
    text = drawn("<svg><g stroke-linecap='round'><g stroke-linecap=\"butt\"><path d='M1,2'/></g></g></svg>");
    ck_assert_msg(strstr(text, "<g stroke-linecap=\"butt\">") != NULL, "%s", text);
    free(text);
}
END_TEST

Suite *suite_ledgers(void)
{
    Suite *suite = suite_create("ledgers");
    TCase *tests = tcase_create("ledgers");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_there);
    tcase_add_test(tests, defects_survivors_first);
    tcase_add_test(tests, claims_unexpected_first);
    tcase_add_test(tests, other_files);
    tcase_add_test(tests, drawings_lose_what_draws_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

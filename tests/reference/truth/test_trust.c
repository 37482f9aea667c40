/* test_trust.c - the trust base: lemmas and what cites them, versions, the list of facts, its file, how it is told. */
#include "tests/reports/report_cases.h"

#include <ctype.h>
#include <fts.h>
#include <mpfr.h>

#include "reference/reference.h"
#include "reference/reference.h"
#include "verify/gate/trust.h"

Suite *suite_trust(void);

/* ---- lemmas ------------------------------------------------------------------------------------------------------ */
static const attest_lemma *find(const char *name)
{
    for (size_t k = 0; k < attest_lemma_count; k++)
        if (strcmp(attest_lemmas[k].name, name) == 0)
            return &attest_lemmas[k];
    return NULL;
}

/* Every R-... and C-... of the text that begins a word is an entry; returns how many there were. */
static int check_names(const char *text, const char *where)
{
    int names = 0;
    for (const char *at = text; *at; at++) {
        char name[64];
        if ((*at != 'R' && *at != 'C') || at[1] != '-' || !isupper((unsigned char)at[2]) ||
            (at > text && (isalnum((unsigned char)at[-1]) || strchr("-_\"%'", at[-1]))))
            continue;
        const size_t len = 2 + strspn(at + 2, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
        if (at[len - 1] == '-' || islower((unsigned char)at[len]))
            continue; /* R-DD-*, a word */
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        ck_assert_msg(find(name) != NULL, "%s cites %s: derivations.md has no such entry", where, name);
        names++;
    }
    return names;
}

static int check_file(const char *path)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");
    ck_assert_msg(in != NULL, "%s", path);
    const size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = '\0';
    return check_names(text, path);
}

/* A citation in the code, or in the document itself, of a lemma that is not there. */
START_TEST(test_citations)
{
    char *folders[] = { ATTEST_TEST_ROOT "/kernels",
                        ATTEST_TEST_ROOT "/reference",
                        ATTEST_TEST_ROOT "/props",
                        ATTEST_TEST_ROOT "/reports",
                        ATTEST_TEST_ROOT "/verify",
                        ATTEST_TEST_ROOT "/tests",
                        NULL };
    static const char *const ends[] = { ".c", ".h", ".cu", ".md" };
    int names = 0, files = 0;
    FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    ck_assert_ptr_nonnull(tree);
    for (FTSENT *entry = fts_read(tree); entry; entry = fts_read(tree)) {
        const char *dot = strrchr(entry->fts_name, '.');
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
            if (entry->fts_info == FTS_F && dot && strcmp(dot, ends[k]) == 0 && /* this file makes names up */
                strcmp(entry->fts_name, "test_trust.c") != 0) {
                names += check_file(entry->fts_accpath);
                files++;
            }
    }
    fts_close(tree);
    ck_assert_msg(names > 300 && files > 100, "%d citations in %d files", names, files);
}
END_TEST

START_TEST(test_lemmas)
{
    static char text[1 << 18];
    size_t stated = 0;
    FILE *in = fopen(ATTEST_TEST_ROOT "/reference/derivations.md", "r");
    ck_assert_ptr_nonnull(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    for (size_t k = 0; k < attest_lemma_count; k++) {
        const attest_lemma *l = &attest_lemmas[k];
        char heading[2][64];
        snprintf(heading[0], sizeof heading[0], "**%s.**", l->name);
        snprintf(heading[1], sizeof heading[1], "**%s, ", l->name);
        stated += strstr(text, heading[0]) || strstr(text, heading[1]) || strcmp(l->name, "R-OUT") == 0;
        ck_assert_msg((*l->source != '\0') == (l->name[0] == 'C'), "%s: source '%s'", l->name, l->source);
        ck_assert_msg(strlen(l->statement) > 20 && strstr(text, l->section) && !strstr(l->statement, "*Proof.*"), "%s",
                      l->name);
    }
    ck_assert_uint_eq(stated, attest_lemma_count);
    ck_assert_uint_eq(attest_lemma_count, occurrences(text, "**R-") + occurrences(text, "**C-") + 1);
    ck_assert(strncmp(find("R-GAMMA")->statement, "If `|e_i| <= u`", 15) == 0);
    ck_assert_str_eq(find("R-GAMMA")->section, "1. Tools");
    ck_assert_str_eq(find("R-OUT")->statement, find("R-DIVISION")->statement);
    ck_assert_str_eq(find("C-STERBENZ")->statement, "`y/2 <= x <= 2y` makes `x - y` exact.");
    ck_assert_str_eq(find("C-STERBENZ")->source, "Sterbenz, Floating-Point Computation, 1974; ASNA, Theorem 2.5.");
    ck_assert_msg(strstr(find("R-DSUM")->statement, "together below `1 + 2^-51`") != NULL, "to the paragraph's end");
}
END_TEST

/* The document as a table: what the build refuses. */
START_TEST(test_table_is_checked)
{
    static const struct {
        const char *text;
        int good;
    } documents[] = {
        { "## 1\n**R-A.** x.\n**R-B, R-C.** y\nmore *Proof.* z\n\n**C-D.** w. *Source:* v.\n", 1 },
        { "**R-A.** x.\n\n**R-A.** y.\n", 0 },
        { "**C-A.** x.\n", 0 },
        { "**R-A.** x. *Source:* y.\n", 0 },
        { "nothing\n", 0 },
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        char command[1024], input[512];
        FILE *out = fopen(path_of("lemmas.md"), "w");
        fputs(documents[i].text, out);
        fclose(out);
        snprintf(input, sizeof input, "%s", path_of("lemmas.md"));
        snprintf(command, sizeof command, "awk -f %s/reference/tables/lemmas.awk %s >%s 2>/dev/null", ATTEST_TEST_ROOT,
                 input, path_of("lemmas.c"));
        ck_assert_msg((system(command) == 0) == documents[i].good, "document %zu", i);
        if (documents[i].good)
            ck_assert_ptr_nonnull(strstr(text_of("lemmas.c"), "{ \"R-A\", \"1\", \"x.\", \"\" },\n"
                                                              "    { \"R-B\", \"1\", \"y more\", \"\" },\n"
                                                              "    { \"R-C\", \"1\", \"y more\", \"\" },\n"
                                                              "    { \"C-D\", \"1\", \"w.\", \"v.\" },\n};"));
    }
}
END_TEST

/* ---- versions ---------------------------------------------------------------------------------------------------- */
START_TEST(test_versions)
{
    attest_library_version list[ATTEST_LIBRARIES_MAX + 1] = { { NULL, "", "" } };
    const size_t count = attest_reference_libraries(list, ATTEST_LIBRARIES_MAX + 1);
    ck_assert(count == 3 || count == 4);
    ck_assert_str_eq(list[0].name, "FLINT");
    ck_assert_str_eq(list[count - 2].name, "MPFR");
    ck_assert_str_eq(list[count - 2].loaded, mpfr_get_version());
    ck_assert_str_eq(list[count - 2].compiled, MPFR_VERSION_STRING);
    ck_assert_str_eq(list[count - 1].name, "GMP");
    ck_assert_str_eq(list[count - 1].loaded, gmp_version);
    for (size_t k = 0; k < count; k++)
        ck_assert(isdigit((unsigned char)list[k].loaded[0]) && isdigit((unsigned char)list[k].compiled[0]));
    list[1].name = NULL;
    ck_assert_uint_eq(attest_reference_libraries(list, 1), count);
    ck_assert_ptr_null(list[1].name);
#ifdef __clang__
    ck_assert_ptr_nonnull(strstr(attest_reference_compiler(), __clang_version__));
#else
    ck_assert_ptr_nonnull(strstr(attest_reference_compiler(), __VERSION__));
#endif
    ck_assert_ptr_nonnull(strstr(attest_reference_compiler(), "-ffp-contract=off"));
}
END_TEST

static size_t count_kind(const attest_facts *facts, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        count += strcmp(facts->fact[i].kind, kind) == 0;
    return count;
}

START_TEST(test_collect)
{
    attest_facts facts = { 0 };
    attest_error err = { "" };
    int gmp = 0;
    ck_assert_msg(attest_trust_collect(&facts, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(count_kind(&facts, "proved") + count_kind(&facts, "cited"), attest_lemma_count);
    ck_assert_uint_ge(count_kind(&facts, "cited"), 10);
    for (size_t i = 0; i < facts.count; i++) {
        const attest_fact *f = &facts.fact[i];
        const attest_lemma *l = find(f->name);
        gmp += strcmp(f->name, "GMP") == 0 && strncmp(f->text, gmp_version, strlen(gmp_version)) == 0;
        if (strcmp(f->kind, "base") == 0)
            ck_assert_ptr_null(l);
        else
            ck_assert(l && strcmp(f->text, l->statement) == 0 &&
                      strcmp(f->source, *l->source ? l->source : l->section) == 0);
    }
    ck_assert_int_eq(gmp, 1);
    attest_facts_clear(&facts);
}
END_TEST

/* ---- facts ------------------------------------------------------------------------------------------------------- */
static attest_facts few(void)
{
    static const char *const list[][4] = {
        { "base", "MPFR", "4 < 5", "" },
        { "proved", "R-ONE", "If `a < b`, then", "1. Tools & more" },
        { "proved", "R-TWO", "an open `mark", "2" },
        { "cited", "C-THREE", "\"so\"", "a \\ book" },
    };
    attest_facts facts = { 0 };
    attest_error err;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        ck_assert_int_eq(attest_facts_add(&facts, list[i][0], list[i][1], list[i][2], list[i][3], &err), ATTEST_OK);
    return facts;
}

START_TEST(test_facts_round_trip)
{
    attest_facts facts = few(), back = { 0 };
    attest_error err = { "" };
    for (int i = 0; i < 100; i++) /* the list grows */
        ck_assert_int_eq(attest_facts_add(&facts, "cited", "C", "t", "s", &err), ATTEST_OK);
    ck_assert_int_eq(attest_facts_write(&facts, path_of("trust.json"), &err), ATTEST_OK);
    ck_assert_msg(attest_facts_read(&back, path_of("trust.json"), &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_eq(back.count, facts.count);
    for (size_t i = 0; i < back.count; i++) {
        const attest_fact *a = &facts.fact[i], *b = &back.fact[i];
        ck_assert(strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0 && strcmp(a->text, b->text) == 0 &&
                  strcmp(a->source, b->source) == 0);
    }
    attest_facts_clear(&facts);
    attest_facts_clear(&back);
    ck_assert(facts.fact == NULL && facts.count == 0);
}
END_TEST

START_TEST(test_facts_refused)
{
    static const struct {
        const char *text, *why;
    } files[] = {
        { "{}", "not a JSON array" },
        { "[", "trust.json" },
        { "[{\"kind\":\"base\",\"name\":\"a\",\"text\":\"b\",\"source\":\"\"},{\"kind\":\"x\"}]", "entry 2: 'name'" },
        { "[{\"kind\":1,\"name\":\"a\",\"text\":\"b\",\"source\":\"\"}]", "entry 1: 'kind'" },
    };
    attest_error err;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        attest_facts facts = { 0 };
        FILE *out = fopen(path_of("trust.json"), "w");
        fputs(files[i].text, out);
        fclose(out);
        ck_assert_int_eq(attest_facts_read(&facts, path_of("trust.json"), &err), ATTEST_BAD_INPUT);
        ck_assert_msg(strstr(err.text, files[i].why) != NULL, "%s", err.text);
        attest_facts_clear(&facts);
    }
    const attest_facts none = { 0 };
    ck_assert_int_eq(attest_facts_write(&none, "/proc/nowhere/trust.json", &err), ATTEST_BAD_INPUT);
}
END_TEST

/* What the page and the summary say of the list above; kernels' builds come from the results, once each. */
START_TEST(test_facts_told)
{
    static const char *const flags[] = { "cc -O3", "", "nvcc -O2", "cc -O3" };
    attest_results rows = { 0 };
    attest_error err;
    attest_facts facts = few();
    const attest_facts none = { 0 };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        attest_result row;
        attest_result_init(&row);
        snprintf(row.flags, sizeof row.flags, "%s", flags[i]);
        ck_assert_int_eq(attest_results_add(&rows, &row, &err), ATTEST_OK);
    }
    attest_overview o = overview_of(&rows);
    FILE *out = fopen(path_of("facts.md"), "w");
    ck_assert_int_eq(attest_facts_print(out, &none, &o, 0, &err), ATTEST_OK);
    ck_assert_int_eq(ftell(out), 0);
    ck_assert_int_eq(attest_facts_print(out, &facts, &o, 0, &err), ATTEST_OK);
    fclose(out);
    ck_assert_str_eq(text_of("facts.md"),
                     "\n## What the verdicts rest on\n\n- MPFR: 4 \\< 5\n- kernels: cc -O3\n- kernels: nvcc -O2\n"
                     "- Lemmas proved in reference/derivations.md (2): R-ONE, R-TWO\n"
                     "- Cited, not proved again here (1): C-THREE\n");
    out = fopen(path_of("facts.html"), "w");
    ck_assert_int_eq(attest_facts_print(out, &facts, &o, 1, &err), ATTEST_OK);
    fclose(out);
    const char *page = text_of("facts.html");
    ck_assert_ptr_nonnull(strstr(page, "<tr><td>MPFR<td>4 &lt; 5\n"
                                       "<tr><td>kernels<td>cc -O3\n"));
    ck_assert_ptr_nonnull(strstr(page, "<td>R-ONE<td>If <code>a &lt; b</code>, then<td>1. Tools &amp; more"));
    ck_assert_ptr_nonnull(strstr(page, "an open <code>mark</code><"));
    ck_assert_ptr_nonnull(strstr(page, "not proved again here (1)"));
    ck_assert_ptr_nonnull(strstr(page, "<td>&quot;so&quot;<td>a \\ book\n"));
    ck_assert_uint_eq(occurrences(page, "<code>"), occurrences(page, "</code>"));
    attest_overview_clear(&o);
    attest_facts_clear(&facts);
    attest_results_clear(&rows);
}
END_TEST

/* What stands beside the results is on the page and in the summary. */
START_TEST(test_on_the_page)
{
    attest_results rows = samples(3);
    attest_facts facts = few();
    attest_error err = { "" };
    ck_assert_int_eq(attest_results_write_jsonl(&rows, path_of("results.jsonl"), &err), ATTEST_OK);
    ck_assert_int_eq(attest_facts_write(&facts, path_of("trust.json"), &err), ATTEST_OK);
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(text_of("index.html"), "<td>R-ONE<"));
    ck_assert_ptr_nonnull(strstr(text_of("summary.md"), "(1): C-THREE\n"));
    ck_assert_int_eq(unlink(path_of("trust.json")), 0);
    ck_assert_msg(attest_report_write(folder, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_ptr_null(strstr(text_of("index.html"), "rest on"));
    attest_facts_clear(&facts);
    attest_results_clear(&rows);
}
END_TEST

Suite *suite_trust(void)
{
    Suite *s = suite_create("trust");
    TCase *t = tcase_create("trust");
    tcase_set_timeout(t, 60);
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_citations);
    tcase_add_test(t, test_lemmas);
    tcase_add_test(t, test_table_is_checked);
    tcase_add_test(t, test_versions);
    tcase_add_test(t, test_collect);
    tcase_add_test(t, test_facts_round_trip);
    tcase_add_test(t, test_facts_refused);
    tcase_add_test(t, test_facts_told);
    tcase_add_test(t, test_on_the_page);
    suite_add_tcase(s, t);
    return s;
}

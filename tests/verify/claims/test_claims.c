/* test_claims.c - the ledger of claims: its rows, its files, and that its verdicts follow from its figures. */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/npy/npy.h"
#include "verify/claims/claims_tables.h"

Suite *suite_claims(void);

static attest_error err;

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static void run_all(attest_ledger *ledger)
{
    MUST(attest_ledger_run(ledger, attest_claim_sources, attest_claim_source_count, &err));
}

/* One row alone, through the same machinery. */
static attest_status run_one(attest_ledger *ledger, const attest_statement *claim)
{
    const attest_claim_source source = { "a test", claim, 1 };
    const attest_claim_source *const sources[] = { &source };
    return attest_ledger_run(ledger, sources, 1, &err);
}

static uint32_t verdict_of(const attest_statement *claim)
{
    attest_ledger ledger;
    MUST(run_one(&ledger, claim));
    const uint32_t verdict = ledger.rows[0].finding.verdict;
    attest_ledger_free(&ledger);
    return verdict;
}

static int exit_of(const attest_ledger *ledger, char *talk, size_t len)
{
    FILE *file = tmpfile();
    const int code = attest_ledger_exit(ledger, file);
    rewind(file);
    const size_t got = fread(talk, 1, len - 1, file);
    talk[got] = '\0';
    fclose(file);
    return code;
}

/* ---- the ledger -------------------------------------------------------------------------------------------------- */
START_TEST(every_verdict_is_the_expected_one)
{
    attest_ledger ledger;
    char talk[4096];
    int seen[4] = { 0 };
    size_t with_check = 0;
    run_all(&ledger);
    const int code = exit_of(&ledger, talk, sizeof talk);
    ck_assert_msg(code == 0 && *talk == '\0', "exit %d: %s", code, talk);
    for (size_t i = 0; i < ledger.count; i++) {
        const attest_claim_row *row = &ledger.rows[i];
        char id[32];
        snprintf(id, sizeof id, "C%zu", i + 1);
        ck_assert_str_eq(row->id, id);
        seen[row->finding.verdict]++;
        with_check += row->claim->check != NULL;
        ck_assert_msg((row->claim->expected == ATTEST_CLAIM_HOLDS_IF) == (row->claim->condition != NULL),
                      "%s: a condition belongs to `holds if`", id);
        ck_assert_msg((row->claim->check == NULL) == (row->claim->expected == ATTEST_CLAIM_NOT_CHECKABLE),
                      "%s: without a check it is not checkable", id);
        for (size_t f = 0; f < row->finding.count; f++)
            for (size_t g = 0; g < f; g++)
                ck_assert_msg(strcmp(row->finding.figures[f].name, row->finding.figures[g].name) != 0,
                              "%s: two figures '%s'", id, row->finding.figures[f].name);
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(strcmp(row->claim->statement, ledger.rows[k].claim->statement) != 0, "%s is %s again", id,
                          ledger.rows[k].id);
    }
    ck_assert_uint_eq(attest_ledger_checked(&ledger), with_check);
    for (int v = 0; v < 4; v++)
        ck_assert_msg(seen[v] > 0, "verdict %d occurs %d times", v, seen[v]);
    attest_ledger_free(&ledger);
}
END_TEST

static char *text_of(const attest_ledger *ledger, int json)
{
    FILE *file = tmpfile();
    if (json)
        MUST(attest_ledger_json(file, ledger, &err));
    else
        attest_ledger_markdown(file, ledger);
    const long len = ftell(file);
    char *text = calloc((size_t)len + 1, 1);
    rewind(file);
    ck_assert_uint_eq(fread(text, 1, (size_t)len, file), (size_t)len);
    fclose(file);
    return text;
}

static void check_json_row(const json_t *row, const attest_claim_row *expected)
{
    static const char *const texts[] = { "claim", "statement", "source", "how", "verdict", "expected" };
    const char *name;
    json_t *figure;
    ck_assert_uint_eq(json_object_size(row), 7);
    for (size_t t = 0; t < 6; t++)
        ck_assert_msg(json_string_length(json_object_get(row, texts[t])) > 0, "%s: %s", expected->id, texts[t]);
    ck_assert_str_eq(json_string_value(json_object_get(row, "claim")), expected->id);
    ck_assert_str_eq(json_string_value(json_object_get(row, "verdict")),
                     json_string_value(json_object_get(row, "expected")));
    json_t *figures = json_object_get(row, "figures");
    size_t numbers = 0; /* one, or two for an enclosure */
    for (size_t f = 0; f < expected->finding.count; f++)
        numbers += expected->finding.figures[f].value.lo == expected->finding.figures[f].value.hi ? 1 : 2;
    ck_assert_uint_eq(json_object_size(figures), numbers);
    json_object_foreach(figures, name, figure)
        ck_assert_msg(json_is_real(figure) && isfinite(json_real_value(figure)), "%s: %s", expected->id, name);
}

START_TEST(json_and_markdown)
{
    attest_ledger ledger;
    json_error_t where;
    size_t lines = 0;
    run_all(&ledger);
    char *text = text_of(&ledger, 1), *table = text_of(&ledger, 0);
    json_t *array = json_loads(text, 0, &where);
    ck_assert_msg(array && json_is_array(array), "%s", where.text);
    ck_assert_uint_eq(json_array_size(array), ledger.count);
    for (size_t i = 0; i < ledger.count; i++)
        check_json_row(json_array_get(array, i), &ledger.rows[i]);
    size_t said[4], all; /* the totals above the table */
    const char *totals = strstr(table, "Totals:");
    char *body = strstr(table, "| claim |");
    ck_assert(strncmp(table, "# ", 2) == 0 && strstr(table, "`false as written`: ") && totals && body && totals < body);
    ck_assert_int_eq(sscanf(totals,
                            "Totals: %zu holds, %zu holds if ..., %zu false as written, %zu not checkable here; %zu",
                            &said[0], &said[1], &said[2], &said[3], &all),
                     5);
    for (size_t i = 0; i < ledger.count; i++)
        said[ledger.rows[i].finding.verdict]--;
    ck_assert(said[0] == 0 && said[1] == 0 && said[2] == 0 && said[3] == 0 && all == ledger.count);
    for (char *line = strtok(body, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        int bars = 0;
        for (const char *at = line; *at; at++)
            bars += *at == '|' && (at == line || at[-1] != '\\');
        ck_assert_msg(bars == 8, "%d bars: %s", bars, line);
        if (lines >= 2) {
            char id[32];
            snprintf(id, sizeof id, "| C%zu |", lines - 1);
            ck_assert_msg(strncmp(line, id, strlen(id)) == 0, "%s does not begin with %s", line, id);
        }
    }
    ck_assert_uint_eq(lines, ledger.count + 2);
    json_decref(array);
    free(text);
    free(table);
    attest_ledger_free(&ledger);
}
END_TEST

/* ---- a false statement ------------------------------------------------------------------------------------------- */
/* "T_1(x) = e^x for all |x| < 1": the largest distance at points of the interval. */
static attest_status planted(attest_claim_finding *finding, const attest_statement *claim, attest_error *e)
{
    attest_status status = ATTEST_OK;
    double worst = 0;
    const double limit = *(const double *)claim->data;
    for (int i = -15; i <= 15; i++) {
        attest_span d;
        ATTEST_TRY(attest_evidence_value(&d, e, "abs(T(1,%d/16)-exp(%d/16))", i, i));
        worst = fmax(worst, d.lo);
    }
    attest_note(finding, "largest distance", worst);
    attest_conclude(finding, worst <= limit, 0);
out:
    return status;
}

START_TEST(a_planted_false_statement)
{
    static const double zero = 0, one = 1;
    attest_statement claim = {
        "T_1(x) = e^x for all |x| < 1.", "nowhere", "31 points", ATTEST_CLAIM_HOLDS, NULL, planted, &zero
    };
    attest_ledger ledger;
    char talk[1024], text[64];
    MUST(run_one(&ledger, &claim));
    ck_assert_uint_eq(ledger.rows[0].finding.verdict, ATTEST_CLAIM_FALSE);
    attest_claim_verdict_text(text, sizeof text, ledger.rows[0].finding.verdict, NULL);
    ck_assert_str_eq(text, "false as written");
    ck_assert_int_eq(exit_of(&ledger, talk, sizeof talk), 1);
    ck_assert_msg(strncmp(talk, "C1: 'false as written', expected 'holds'", 40) == 0, "%s", talk);
    char *table = text_of(&ledger, 0);
    ck_assert_ptr_nonnull(strstr(table, "\\|x\\| < 1"));
    ck_assert_ptr_nonnull(strstr(table, "| false as written | holds |"));
    free(table);
    attest_ledger_free(&ledger);
    ck_assert(ledger.rows == NULL && ledger.count == 0);
    claim.expected = ATTEST_CLAIM_FALSE; /* expected to be false: nothing to tell */
    MUST(run_one(&ledger, &claim));
    ck_assert_int_eq(exit_of(&ledger, talk, sizeof talk), 0);
    attest_ledger_free(&ledger);
    claim.data = &one; /* within 1 it holds */
    ck_assert_uint_eq(verdict_of(&claim), ATTEST_CLAIM_HOLDS);
}
END_TEST

/* ---- what a check may not do ------------------------------------------------------------------------------------- */
static attest_status says_nothing(attest_claim_finding *finding, const attest_statement *claim, attest_error *e)
{
    (void)claim;
    (void)e;
    attest_conclude(finding, 1, 0); /* a verdict without a figure */
    return ATTEST_OK;
}

static attest_status not_finite(attest_claim_finding *finding, const attest_statement *claim, attest_error *e)
{
    (void)claim;
    (void)e;
    attest_note(finding, "x", NAN);
    attest_conclude(finding, 1, 0);
    return ATTEST_OK;
}

static attest_status fails(attest_claim_finding *finding, const attest_statement *claim, attest_error *e)
{
    (void)finding;
    (void)claim;
    return attest_fail(e, ATTEST_BAD_INPUT, "no such thing");
}

static attest_status too_many(attest_claim_finding *finding, const attest_statement *claim, attest_error *e)
{
    (void)claim;
    (void)e;
    for (int i = 0; i < 2 * ATTEST_FIGURES; i++)
        attest_note(finding, "x", i);
    attest_conclude(finding, 1, 0);
    return ATTEST_OK;
}

START_TEST(checks_must_give_figures)
{
    attest_statement claim = { "s", "t", "u", ATTEST_CLAIM_HOLDS, NULL, says_nothing, NULL };
    attest_ledger ledger;
    ck_assert_int_eq(run_one(&ledger, &claim), ATTEST_INTERNAL);
    attest_ledger_free(&ledger);
    claim.check = not_finite;
    ck_assert_int_eq(run_one(&ledger, &claim), ATTEST_INTERNAL);
    attest_ledger_free(&ledger);
    claim.check = too_many;
    ck_assert_int_eq(run_one(&ledger, &claim), ATTEST_INTERNAL);
    attest_ledger_free(&ledger);
    claim.check = fails;
    ck_assert_int_eq(run_one(&ledger, &claim), ATTEST_BAD_INPUT);
    ck_assert_msg(strstr(err.text, "C1") && strstr(err.text, "no such thing"), "%s", err.text);
    attest_ledger_free(&ledger);
    claim.check = NULL; /* nothing to run */
    claim.expected = ATTEST_CLAIM_NOT_CHECKABLE;
    ck_assert_uint_eq(verdict_of(&claim), ATTEST_CLAIM_NOT_CHECKABLE);
}
END_TEST

START_TEST(conclusions)
{
    attest_claim_finding finding = { 0 };
    attest_match match = { .compared = 4, .rational = 4 };
    attest_span value;
    char text[64];
    attest_conclude(&finding, 0, 1);
    ck_assert_uint_eq(finding.verdict, ATTEST_CLAIM_HOLDS_IF);
    attest_conclude(&finding, 1, 1);
    ck_assert_uint_eq(finding.verdict, ATTEST_CLAIM_HOLDS);
    attest_conclude(&finding, 0, 0);
    ck_assert_uint_eq(finding.verdict, ATTEST_CLAIM_FALSE);
    attest_claim_verdict_text(text, sizeof text, ATTEST_CLAIM_HOLDS_IF, "z != 0");
    ck_assert_str_eq(text, "holds if z != 0");
    attest_claim_verdict_text(text, sizeof text, ATTEST_CLAIM_NOT_CHECKABLE, NULL);
    ck_assert_str_eq(text, "not checkable here");
    int equal = 0;
    MUST(attest_match_decide(&equal, &match, 4, &err));
    ck_assert_int_eq(equal, 1);
    ck_assert_int_eq(attest_match_decide(&equal, &match, 5, &err), ATTEST_INTERNAL); /* too few */
    ck_assert_int_eq(attest_match_decide(&equal, &(attest_match){ 0 }, 0, &err), ATTEST_INTERNAL);
    match.rational = 3, match.distance = 0x1p-90;
    ck_assert_int_eq(attest_match_decide(&equal, &match, 4, &err), ATTEST_INTERNAL); /* an enclosure too wide */
    match.distance = 0x1p-110;
    MUST(attest_match_decide(&equal, &match, 4, &err));
    ck_assert_int_eq(equal, 1);
    match.different = 1;
    MUST(attest_match_decide(&equal, &match, 5, &err));
    ck_assert_int_eq(equal, 0);
    attest_note_match(&finding, "m", &match, 1);
    ck_assert_uint_eq(finding.count, 4);
    ck_assert_str_eq(finding.figures[1].name, "m different");
    ck_assert(finding.figures[1].value.lo == 1 && finding.figures[1].value.hi == 1);
    ck_assert(finding.figures[2].value.lo == 3 && finding.figures[2].value.hi == 3);
    ck_assert_str_eq(finding.figures[3].name, "m largest difference");
    MUST(attest_note_value(&finding, &value, "two", &err, "%d+1", 1));
    ck_assert(value.lo == 2 && value.hi == 2 && finding.count == 5 && finding.figures[4].value.hi == 2);
}
END_TEST

/* The constants of the tutorial's rows are the committed example. */
START_TEST(the_example_is_the_committed_one)
{
    static const char *const names[] = { "q", "k", "v" };
    const double *const tables[] = { claim_tutorial_q, claim_tutorial_k, claim_tutorial_v };
    for (int t = 0; t < 3; t++) {
        char path[512];
        attest_npy a;
        snprintf(path, sizeof path, "%s/examples/tutorial/%s.npy", ATTEST_TEST_ROOT, names[t]);
        MUST(attest_npy_read(&a, path, ATTEST_F32, &err));
        ck_assert(a.rank == 2 && a.shape[0] == CLAIM_TUTORIAL_TOKENS && a.shape[1] == CLAIM_TUTORIAL_WIDTH);
        for (int at = 0; at < 20; at++)
            ck_assert_msg((double)((const float *)a.data)[at] == tables[t][at], "%s[%d]", names[t], at);
        attest_npy_free(&a);
    }
}
END_TEST

START_TEST(the_list_names_every_row)
{
    FILE *file = tmpfile();
    char line[1024];
    size_t rows = 0, total = 0;
    attest_claims_list(file);
    rewind(file);
    while (fgets(line, sizeof line, file))
        rows += line[0] == 'C';
    fclose(file);
    for (size_t s = 0; s < attest_claim_source_count; s++)
        total += attest_claim_sources[s]->count;
    ck_assert_uint_eq(rows, total);
}
END_TEST

Suite *suite_claims(void)
{
    Suite *suite = suite_create("claims");
    TCase *ledger = tcase_create("ledger"), *machinery = tcase_create("machinery");
    tcase_set_timeout(ledger, 60);
    tcase_add_checked_fixture(ledger, NULL, attest_reference_thread_end);
    tcase_add_checked_fixture(machinery, NULL, attest_reference_thread_end);
    tcase_add_test(ledger, every_verdict_is_the_expected_one);
    tcase_add_test(ledger, json_and_markdown);
    suite_add_tcase(suite, ledger);
    tcase_add_test(machinery, a_planted_false_statement);
    tcase_add_test(machinery, checks_must_give_figures);
    tcase_add_test(machinery, conclusions);
    tcase_add_test(machinery, the_example_is_the_committed_one);
    tcase_add_test(machinery, the_list_names_every_row);
    suite_add_tcase(suite, machinery);
    return suite;
}

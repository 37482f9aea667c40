/* test_claims_inputs.c - verdicts of claims are no constants: a changed input changes them, for every verdict of every
 * source that has one.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "verify/claims/claims_printed.h"
#include "verify/claims/claims_tables.h"

Suite *suite_claims_inputs(void);

static attest_error err;

enum { SOURCES = 21, VERDICTS = 3, LIST = 16 };

static uint32_t verdict_of(const attest_statement *claim)
{
    const attest_claim_source source = { "a test", claim, 1 };
    const attest_claim_source *const sources[] = { &source };
    attest_ledger ledger;
    ck_assert_msg(attest_ledger_run(&ledger, sources, 1, &err) == ATTEST_OK, "%s: %s", claim->statement, err.text);
    const uint32_t verdict = ledger.rows[0].finding.verdict;
    attest_ledger_free(&ledger);
    return verdict;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */
static void wrong_printed(attest_statement claim, int entry)
{
    const claim_printed *right = claim.data;
    double *printed = malloc((size_t)right->count * sizeof *printed);
    claim_printed table = *right;
    memcpy(printed, right->printed, (size_t)right->count * sizeof *printed);
    printed[entry % right->count] += (entry % 2 ? 1 : -1) * right->unit;
    table.printed = printed;
    claim.data = &table;
    ck_assert_msg(verdict_of(&claim) == ATTEST_CLAIM_FALSE, "still true: %s", claim.statement);
    free(printed);
}

/* Entries of one part replaced, one after another, by a rule that says something else: sums of values, of keys. */
static int wrong_rules(attest_statement claim, int part)
{
    const claim_rule *right = claim.data;
    claim_rule list[LIST] = { 0 };
    int changed = 0;
    for (int i = 0; right[i].name; i++)
        list[i] = right[i];
    for (int i = 0; right[i].name; i++) {
        if (right[i].part != part)
            continue;
        list[i].number = strcmp(list[i].rule, "kronecker") == 0 && list[i].number == 0;
        list[i].rule = "kronecker";
        list[i].extra = NULL;
        claim.data = list;
        const uint32_t verdict = verdict_of(&claim);
        ck_assert_msg(verdict == ATTEST_CLAIM_FALSE || (verdict != claim.expected && part == CLAIM_WRITTEN),
                      "still '%s': %s", right[i].name, claim.statement);
        list[i] = right[i];
        changed++;
    }
    return changed;
}

/* The reading given as right, taken for the written one. */
static int right_rules(attest_statement claim)
{
    const claim_rule *all = claim.data;
    claim_rule list[LIST] = { 0 };
    int count = 0;
    for (int i = 0; all[i].name; i++)
        if (all[i].part == CLAIM_ASIDE) {
            list[count] = all[i];
            list[count++].part = CLAIM_WRITTEN;
        }
    claim.data = list;
    ck_assert_msg(count == 0 || verdict_of(&claim) == ATTEST_CLAIM_HOLDS, "right is not right: %s", claim.statement);
    return count;
}

static int wrong_pairs(attest_statement claim, int part)
{
    const claim_pair *right = claim.data;
    claim_pair list[LIST] = { 0 };
    char line[256];
    int changed = 0;
    for (int i = 0; right[i].name; i++)
        list[i] = right[i];
    for (int i = 0; right[i].name; i++) {
        if (right[i].part != part)
            continue;
        /* other values: a second draw, not another seed, which the check sets */
        snprintf(line, sizeof line, "%s %s", right[i].two,
                 strstr(right[i].two, "family=") ? "window=2" : "family=uniform");
        list[i].two = line;
        claim.data = list;
        ck_assert_msg(verdict_of(&claim) != claim.expected, "still '%s': %s", right[i].name, claim.statement);
        list[i] = right[i];
        changed++;
    }
    return changed;
}

/* How many changes of its table changed the verdict of the claim. */
static int change_table(const attest_statement *claim, int entry)
{
    const int part = claim->expected == ATTEST_CLAIM_HOLDS_IF ? CLAIM_MEANT : CLAIM_WRITTEN;
    const int rules = claim->check == claim_check_rules || claim->check == claim_check_constant_state;
    if (claim->expected == ATTEST_CLAIM_FALSE)
        return claim->check == claim_check_rules ? right_rules(*claim) : 0;
    if (claim->check == claim_check_printed) {
        wrong_printed(*claim, entry);
        return 1;
    }
    if (rules)
        return wrong_rules(*claim, part);
    return claim->check == claim_check_pairs ? wrong_pairs(*claim, part) : 0;
}

/* ---- constants --------------------------------------------------------------------------------------------------- */
static const int three = 3;
static const int one = 1;
static const double low_cat[4] = { 40.2, 9.0, 23.3, 17.5 }, three_four[2] = { 3, 4 }, half[2] = { 0.5, 8 },
                    too_early[2] = { 8, 4 }, both_near[2] = { -0.5, -0.25 }, both_far[2] = { -4, -4 }, at_center = 0,
                    small_points[6] = { -0.1, -0.25, 0.25, -0.5, 0.5, 0.125 },
                    beyond_one[6] = { -2, -0.9, -0.5, -0.1, 0.5, 2 }, hundred = 100, inner_edge = -0.05,
                    more_memory = 81, far = 1000, small_scores = 0.5, along_keys[4] = { 2, 0, 0, 0 },
                    one_row[2][7] = { { 512, 262e3, 1e3, 1, 1, 16.8e6, 0.1e6 }, { 0 } };
static const struct {
    double score;
    int64_t length;
} high_row = { 10, 1000 };
static const struct {
    int order;
    double printed;
} wrong_root[2] = { { 3, -1.5 }, { 0, 0 } };
static const struct {
    double length, width, printed;
    struct {
        int n, d;
    } counted[4];
} wrong_print = { 4096, 64, 63, { { 8, 4 }, { 0, 0 } } };
/* {N, d}; {d, N > ...} */
static const int short_stream[2] = { 2, 4 }, one_early[2][2] = { { 4, 3 }, { 0, 0 } },
                 golden[2][2] = { { 4, 6 }, { 0, 0 } }, long_cache[2] = { 4, 4 };
static const struct {
    int n, d, e;
} wide_values[2] = { { 5, 4, 2 }, { 0, 0, 0 } };
static const claim_rule without_decay[] = {
    { "", "variant=deltanet gates=inout n=6 d=3 e=2", "sla-delta", 0, NULL, 20, CLAIM_WRITTEN },
    { .name = NULL },
};

static const claim_rule growing_state[] = {
    { "N=2:", "variant=linear mask=causal n=2 d=2 e=2", "linear", 0, NULL, 2, CLAIM_WRITTEN },
    { "N=3:", "variant=linear mask=causal n=3 d=3 e=2", "linear", 0, NULL, 2, CLAIM_WRITTEN },
    { .name = NULL },
};

/* What the new rows of each kind of evidence take: a wrong rule, a wrong print, a variant that says something else. */
static const claim_pair second_term[] = {
    { "", "variant=term:2 n=6 d=3 e=2 mask=causal", "variant=linear n=6 d=3 e=2 mask=causal", ATTEST_O, CLAIM_ALL_ROWS,
      0, 5, CLAIM_WRITTEN },
    { .name = NULL },
};
static const char *const few_numbers[] = { "l2norm", "rmsnorm", NULL };
static const double two = 2, flat_row[8] = { 0 }, in_range = 80, growing_gate = 1.125;
static const char *const a_model[] = { "one" };
static const double worse[2] = { 4, 7 }, better[2] = { 5, 7 };
static const claim_models no_worse = { a_model, worse, better, 1, 2, 0 },
                          one_worse = { a_model, worse, better, 1, 2, 1 };
static const struct {
    int cells;
    double cell[6], average, delta;
} wrong_average[2] = { { 3, { 1, 2, 4 }, 2.34, NAN }, { .cells = 0 } },
  wrong_delta[3] = { { 3, { 1, 2, 4 }, 2.33, NAN }, { 3, { 1, 2, 3 }, 2, -0.34 }, { .cells = 0 } };
static const claim_rule one_value[] = {
    { "one", "variant=taylor:3 norm=l2 n=5 d=2 e=1 mask=causal", "taylor-states", 3, NULL, 5, CLAIM_WRITTEN },
    { .name = NULL },
};
static const claim_rule unclamped[] = {
    { "one", "variant=taylor:3 norm=none scale=8 n=5 d=2 e=2 mask=causal", "taylor-states", 3, NULL, 5, CLAIM_WRITTEN },
    { .name = NULL },
};
static const struct {
    int64_t hidden, mlp, layers, vocabulary;
    double printed, unit;
} wrong_size[2] = { { 1024, 2048, 20, 32000, 200e6, 100e6 }, { .hidden = 0 } };
static const struct {
    const char *one, *two;
} center_moved = { "taylor:1", "shifted:1" }, both_euler = { "deltanet", "deltanet" };

/* A claim whose data are constants of the statement: other constants, another verdict. */
static const struct {
    const char *statement; /* its beginning */
    const void *data;
    uint32_t verdict;
} changes[] = {
    { "'As linear attention is just a single term", second_term, ATTEST_CLAIM_FALSE },
    { "G_t above 1 occurs only", &high_row, ATTEST_CLAIM_HOLDS },
    { "ReLU confines the inner", "identity", ATTEST_CLAIM_FALSE },
    { "When all scores go to infinity", &small_scores, ATTEST_CLAIM_FALSE },
    { "The exponential of a score is", &far, ATTEST_CLAIM_FALSE },
    { "Terms of higher order are less", half, ATTEST_CLAIM_HOLDS },
    { "Terms of higher order are less", too_early, ATTEST_CLAIM_FALSE },
    { "Each further order", both_near, ATTEST_CLAIM_HOLDS },
    { "Each further order", both_far, ATTEST_CLAIM_FALSE },
    { "The normalised variant is L2", "variant=l2norm", ATTEST_CLAIM_HOLDS },
    { "T_p, p odd, has one real root", wrong_root, ATTEST_CLAIM_FALSE },
    { "The exponent is p+1", &at_center, ATTEST_CLAIM_FALSE },
    { "The error of 1+x is dominated", small_points, ATTEST_CLAIM_HOLDS },
    { "For abs(x) < 1 'the higher-order", beyond_one, ATTEST_CLAIM_FALSE },
    { "If the components of q and k are", &one, ATTEST_CLAIM_FALSE },
    { "With cosines for inner products", "identity", ATTEST_CLAIM_FALSE },
    { "'Adding a gate or norm requires", few_numbers, ATTEST_CLAIM_HOLDS },
    { "Detaching the denominator removes", &two, ATTEST_CLAIM_FALSE },
    { "Sparse distributions", flat_row, ATTEST_CLAIM_HOLDS },
    { "In table 3 'adding SLA", &no_worse, ATTEST_CLAIM_HOLDS },
    { "Incorporating SLA 'consistently", &one_worse, ATTEST_CLAIM_FALSE },
    { "The averages of tables 2 and 4", wrong_average, ATTEST_CLAIM_FALSE },
    { "The averages of tables 2 and 4", wrong_delta, ATTEST_CLAIM_FALSE },
    { "'Even when other functions", &one, ATTEST_CLAIM_HOLDS },
    { "With a norm in place of the denominator", one_value, ATTEST_CLAIM_HOLDS },
    { "Eq. 5 stays a recurrence", unclamped, ATTEST_CLAIM_HOLDS },
    { "With RoPE on queries and keys", "none", ATTEST_CLAIM_FALSE },
    { "'We employ the L2 vector norm", &in_range, ATTEST_CLAIM_HOLDS },
    { "G is in R^N", &one, ATTEST_CLAIM_HOLDS },
    { "The models have 'about 300 million'", wrong_size, ATTEST_CLAIM_FALSE },
    { "Filtering out low scores", &center_moved, ATTEST_CLAIM_HOLDS },
    { "Error-free linear attention (efla)", &both_euler, ATTEST_CLAIM_FALSE },
    { "Gated linear attention 'addresses", &growing_gate, ATTEST_CLAIM_FALSE },
    { "'Linear attention does not approximate", "taylor:1", ATTEST_CLAIM_FALSE },
    { "Filtering saves some work", &hundred, ATTEST_CLAIM_FALSE },
    { "With the range so bounded", &inner_edge, ATTEST_CLAIM_HOLDS },
    { "The filter 'trades the completeness", &hundred, ATTEST_CLAIM_FALSE },
    { "The gates are a softmax over heads", &three, ATTEST_CLAIM_FALSE },
    { "Eqs. 14 to 16 are Gated DeltaNet", without_decay, ATTEST_CLAIM_HOLDS },
    { "`cat` gives", low_cat, ATTEST_CLAIM_FALSE },
    { "Linear attention is 3 to 5 times", three_four, ATTEST_CLAIM_FALSE },
    { "Linear attention's weights are flatter", along_keys, ATTEST_CLAIM_HOLDS },
    { "The denominator keeps outputs", "variant=linear-relu", ATTEST_CLAIM_HOLDS },
    { "'Linear attention is faster because", "linear-relu", ATTEST_CLAIM_HOLDS },
    { "At N=4096 a model of 32 heads", &more_memory, ATTEST_CLAIM_FALSE },
    { "It takes the printed memory", one_row, ATTEST_CLAIM_HOLDS },
    { "The speedup is N/d", &wrong_print, ATTEST_CLAIM_FALSE },
    { "Every standard attention must", short_stream, ATTEST_CLAIM_HOLDS },
    { "Linear attention is faster", one_early, ATTEST_CLAIM_FALSE },
    { "It needs less memory for N > d", golden, ATTEST_CLAIM_FALSE },
    { "Per token it is always cheaper", long_cache, ATTEST_CLAIM_HOLDS },
    { "SLA's state size", growing_state, ATTEST_CLAIM_FALSE },
    { "The state keeps its size", growing_state, ATTEST_CLAIM_FALSE },
    { "The memory of score matrices", wide_values, ATTEST_CLAIM_FALSE },
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

static int change_constants(const attest_statement *claim, int found[CHANGES])
{
    int changed = 0;
    for (size_t c = 0; c < CHANGES; c++) {
        attest_statement other = *claim;
        if (strncmp(claim->statement, changes[c].statement, strlen(changes[c].statement)) != 0)
            continue;
        found[c]++;
        changed++;
        ck_assert_msg(changes[c].verdict != claim->expected, "%s: the verdict it has", claim->statement);
        other.data = changes[c].data;
        const uint32_t verdict = verdict_of(&other);
        ck_assert_msg(verdict == changes[c].verdict, "verdict %u: %s", verdict, claim->statement);
    }
    return changed;
}

START_TEST(a_changed_input_changes_the_verdict)
{
    int found[CHANGES] = { 0 }, entry = 3;
    ck_assert_uint_eq(attest_claim_source_count, SOURCES);
    for (size_t s = 0; s < SOURCES; s++) {
        int rows[VERDICTS] = { 0 }, changed[VERDICTS] = { 0 };
        for (size_t i = 0; i < attest_claim_sources[s]->count; i++) {
            const attest_statement *claim = &attest_claim_sources[s]->claims[i];
            if (claim->expected >= VERDICTS)
                continue;
            rows[claim->expected]++;
            changed[claim->expected] += change_table(claim, entry += 5) + change_constants(claim, found);
        }
        for (int v = 0; v < VERDICTS; v++)
            ck_assert_msg(rows[v] == 0 || changed[v] > 0, "source %zu: no input changes a verdict %d", s, v);
    }
    for (size_t c = 0; c < CHANGES; c++)
        ck_assert_msg(found[c] == 1, "%d claims begin '%s'", found[c], changes[c].statement);
}
END_TEST

/* ---- what decides nothing is an error ---------------------------------------------------------------------------- */
START_TEST(undecided_is_an_error)
{
    static const claim_rule no_cases[] = {
        { "", "variant=linear n=4 d=2 mask=causal", "linear", 0, NULL, 0, CLAIM_WRITTEN },
        { .name = NULL },
    };
    static const claim_rule wrong_aside[] = {
        { "one", "variant=linear n=4 d=2 mask=causal", "kronecker", 0, NULL, 2, CLAIM_WRITTEN },
        { "two", "variant=linear n=4 d=2 mask=causal", "kronecker", 2, NULL, 2, CLAIM_ASIDE },
        { .name = NULL },
    };
    static const claim_pair irrational[] = {
        { "", "variant=softmax n=4 d=2", "variant=softmax n=4 d=2", ATTEST_O, CLAIM_ALL_ROWS, 0, 2, CLAIM_WRITTEN },
        { .name = NULL },
    };
    static const claim_pair no_pairs[] = {
        { "", "variant=linear n=4 d=2", "variant=linear n=4 d=2", ATTEST_O, CLAIM_ALL_ROWS, 0, 0, CLAIM_WRITTEN },
        { .name = NULL },
    };
    static const claim_identity no_runs[] = { { "", "packed", "variant=taylor:2", 0 }, { .name = NULL } };
    static const claim_rule no_rules[] = { { .name = NULL } };
    static const claim_printed nothing = { "variant=softmax", CLAIM_PRINTED_O, 0, 1, NULL };
    static const struct {
        attest_claim_check check;
        const void *data;
    } rows[] = {
        { claim_check_pairs, no_pairs },          { claim_check_identities, no_runs }, { claim_check_rules, no_rules },
        { claim_check_constant_state, no_cases }, { claim_check_printed, &nothing },   { claim_check_rules, no_cases },
        { claim_check_rules, wrong_aside },       { claim_check_pairs, irrational },
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const attest_statement claim = { "s", "t", "u", ATTEST_CLAIM_FALSE, NULL, rows[r].check, rows[r].data };
        const attest_claim_source source = { "a test", &claim, 1 };
        const attest_claim_source *const sources[] = { &source };
        attest_ledger ledger;
        ck_assert_msg(attest_ledger_run(&ledger, sources, 1, &err) == ATTEST_INTERNAL, "row %zu", r);
        attest_ledger_free(&ledger);
    }
}
END_TEST

Suite *suite_claims_inputs(void)
{
    Suite *suite = suite_create("claims_inputs");
    TCase *t = tcase_create("inputs");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, NULL, attest_reference_thread_end);
    tcase_add_test(t, a_changed_input_changes_the_verdict);
    tcase_add_test(t, undecided_is_an_error);
    suite_add_tcase(suite, t);
    return suite;
}

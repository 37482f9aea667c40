/* test_identities.c - every identity for every variant it is to hold for, 50 random cases each, in exact rationals:
 * 0 differences, its lemma written down; and differing inputs planted for every kind, which must be seen. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "reference/identities/identities.h"
#include "reference/reference.h"

Suite *suite_identities(void);

enum { CASES = 50 };

/* ---- the table -----------------------------------------------------------------------------------------------------
 */

/* From 1 on: the row's number decides its seeds. */
static int64_t check_pair(const attest_identity *id, const char *variant, uint64_t row)
{
    attest_error err;
    int64_t compared = 0, different = 0;
    const attest_status status = attest_identity_run(id, variant, row << 20, CASES, &compared, &different, &err);
    ck_assert_msg(status == ATTEST_OK, "%s, %s: %s", variant, id->name, err.text);
    printf("%-44s | %-14s | %-16s | %5d | %d\n", variant + strlen("variant="), id->name, id->lemma, CASES,
           (int)different);
    ck_assert_msg(different == 0, "%s, %s: %d of %d differ", variant, id->name, (int)different, (int)compared);
    ck_assert_msg(compared >= CASES, "%s, %s: only %d comparisons", variant, id->name, (int)compared);
    return compared;
}

/* derivations.md states the lemma: **NAME.** */
static void check_lemma(const attest_identity *id)
{
    char heading[64], line[1 << 14];
    int stated = 0;
    FILE *text = fopen(ATTEST_TEST_ROOT "/reference/derivations.md", "r");
    ck_assert_ptr_nonnull(text);
    snprintf(heading, sizeof heading, "**%s.**", id->lemma);
    while (fgets(line, sizeof line, text))
        stated |= strstr(line, heading) != NULL;
    fclose(text);
    ck_assert_msg(stated, "%s: no lemma %s in derivations.md", id->name, id->lemma);
}

START_TEST(test_table)
{
    int64_t compared = 0;
    int pairs = 0;
    printf("%-44s | %-14s | %-16s | cases | differences\n", "variant", "identity", "lemma");
    for (size_t k = 0; k < attest_identity_count; k++) {
        const attest_identity *id = &attest_identities[k];
        ck_assert_ptr_eq(attest_identity_find(id->name), id);
        check_lemma(id);
        for (const char *const *v = id->variants; *v; v++, pairs++)
            compared += check_pair(id, *v, (uint64_t)pairs + 1);
    }
    printf("%d pairs, %lld comparisons\n", pairs, (long long)compared);
    fflush(stdout);
    ck_assert_ptr_null(attest_identity_find("no such identity"));
    ck_assert_int_ge(pairs, 200);
}
END_TEST

/* ---- planted violations
 * ---------------------------------------------------------------------------------------------- */

/* What is planted is a difference in the right side's line or inputs, as a wrong form would see them: it shows that the
 * comparison notices such a difference, not that it would notice a fault in the form.  For that `make mutate`
 * breaks the forms themselves. */

/* The right side of a case: its line and its inputs, both its own. */
typedef struct side {
    attest_case c;
    attest_bundle *in;
} side;

static attest_tensor *tensor(const side *s, attest_role role)
{
    attest_tensor *t = attest_bundle_role(s->in, role);
    ck_assert_ptr_nonnull(t);
    return t;
}

static void set(attest_tensor *t, int64_t index, double x)
{
    attest_store_bits(t, index, attest_from_f64(t->dtype, x));
}

static void times(attest_tensor *t, double factor)
{
    for (int64_t k = 0; k < attest_tensor_count(t); k++)
        set(t, k, factor * attest_load(t, k)); /* exact: few bits */
}

/* Every tensor of tokens one token late. */
static void late(attest_tensor *t)
{
    const int64_t width = t->rank > 3 ? t->shape[3] : 1;
    for (int64_t k = attest_tensor_count(t) - 1; k >= width; k--)
        attest_store_bits(t, k, attest_load_bits(t, k - width));
}

static void last_key_lost(side *s)
{
    attest_tensor *k = tensor(s, ATTEST_K), *v = tensor(s, ATTEST_V);
    const attest_problem *p = &s->c.problem;
    for (int64_t g = 0; g < p->hkv; g++) {
        for (int64_t c = 0; c < p->d; c++)
            set(k, (g * p->m + p->m - 1) * p->d + c, 0.0);
        for (int64_t c = 0; c < p->e; c++)
            set(v, (g * p->m + p->m - 1) * p->e + c, 0.0);
    }
}

static void key_counted_twice(side *s)
{
    attest_tensor *v = tensor(s, ATTEST_V);
    for (int64_t c = 0; c < s->c.problem.e; c++)
        set(v, c, 2 * attest_load(v, c));
}

static void index_lost(side *s)
{
    attest_tensor *k = tensor(s, ATTEST_K);
    const int64_t d = s->c.problem.d;
    for (int64_t j = d - 1; j < attest_tensor_count(k); j += d)
        set(k, j, 0.0);
}

static void new_token_decayed(side *s)
{
    attest_tensor *v = tensor(s, ATTEST_V), *a = tensor(s, ATTEST_DECAY);
    const int64_t e = s->c.problem.e;
    for (int64_t k = 0; k < attest_tensor_count(v); k++)
        set(v, k, attest_load(v, k) * attest_load(a, k / e));
}

static void one_step_undecayed(side *s) { set(tensor(s, ATTEST_DECAY), s->c.problem.m - 1, 1.0); }
static void decay_late(side *s) { late(tensor(s, ATTEST_DECAY)); }
static void rate_late(side *s) { late(tensor(s, ATTEST_BETA)); }
static void values_negated(side *s) { times(tensor(s, ATTEST_V), -1.0); }
static void values_halved(side *s) { times(tensor(s, ATTEST_V), 0.5); }
static void scale_negated(side *s) { s->c.problem.scale = -s->c.problem.scale; }
static void center_at_least(side *s) { s->c.problem.axis[ATTEST_AXIS_CENTER].value = ATTEST_CENTER_MIN; }
static void factorial_lost(side *s) { s->c.problem.axis[ATTEST_AXIS_WEIGHT].value = ATTEST_WEIGHT_POWER; }
static void term_lost(side *s) { s->c.problem.axis[ATTEST_AXIS_WEIGHT].order--; }
static void gates_not_in_state(side *s) { s->c.problem.axis[ATTEST_AXIS_GATES].value = ATTEST_GATES_OUT; }

static void gates_exchanged(side *s)
{
    attest_tensor *in = tensor(s, ATTEST_GIN), *out = tensor(s, ATTEST_GOUT);
    const int64_t count = attest_tensor_count(in), more = attest_tensor_count(out);
    for (int64_t k = 0; k < count; k++) {
        const double x = attest_load(in, k);
        set(in, k, attest_load(out, k % more));
        set(out, k % more, x);
    }
}

static const struct {
    const char *identity, *variant;
    void (*plant)(side *s);
    const char *what;
} plants[] = {
    { "recurrent", "variant=simple-gla", new_token_decayed, "the new token decayed" },
    { "recurrent", "variant=taylor:3", last_key_lost, "the last key lost" },
    { "packed", "variant=term:3", index_lost, "multi-indices with the last letter lost" },
    { "chunked", "variant=taylor:2", last_key_lost, "a chunk boundary one key early" },
    { "chunked", "variant=gla", one_step_undecayed, "a decay lost at a chunk boundary" },
    { "split", "variant=term:2", key_counted_twice, "a key in both parts" },
    { "carried", "variant=simple-gla", one_step_undecayed, "a state carried without its decay" },
    { "carried", "variant=gdn", decay_late, "decays one token late" },
    { "state", "variant=retnet gates=inout", gates_not_in_state, "gin left out of the state" },
    { "state", "variant=deltanet", rate_late, "b_t of the token before" },
    { "scan", "variant=simple-gla", decay_late, "(ab, aS+U): the wrong side's decay" },
    { "scan", "variant=gla", decay_late, "the same per key dimension" },
    { "scan", "variant=gdn", rate_late, "affine maps with the rate of the token before" },
    { "wy", "variant=deltanet", rate_late, "T from the b_t of the token before" },
    { "wy", "variant=gdn", new_token_decayed, "the new value decayed" },
    { "center-states", "variant=shifted:3", center_at_least, "coefficients of another center" },
    { "gate-matrix", "variant=linear gates=inout", gates_exchanged, "rows and columns exchanged" },
    { "feature-power", "variant=taylor:3", factorial_lost, "1/n! missing" },
    { "kronecker", "variant=term:2", index_lost, "one index lost" },
    { "length-l2", "variant=taylor:2 norm=length-l2", values_negated, "a negative factor" },
    { "quadratic-term", "variant=quadratic", values_halved, "the factor 2 missing" },
    { "linear-term", "variant=linear", scale_negated, "another sign of the scale" },
    { "first-order", "variant=linear", key_counted_twice, "a key counted twice" },
    { "taylor-terms", "variant=taylor:3", term_lost, "one term missing" },
    { "last-row", "variant=taylor:2 gates=inout", last_key_lost, "the last key masked" },
};

/* How many of 40 cases differ once the right side is planted; before that none does. */
static int seen(const attest_identity *id, const char *variant, void (*plant)(side *s))
{
    int cases = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        attest_error err;
        side left, right;
        int64_t compared = 0, different = 0;
        ck_assert(attest_identity_draw(&left.c, &left.in, id, variant, seed, &err) == ATTEST_OK);
        ck_assert(attest_identity_draw(&right.c, &right.in, id, variant, seed, &err) == ATTEST_OK);
        ck_assert(attest_identity_compare(id, &left.c, left.in, &right.c, right.in, &compared, &different, &err) ==
                  ATTEST_OK);
        ck_assert_int_eq(different, 0);
        plant(&right);
        ck_assert(attest_identity_compare(id, &left.c, left.in, &right.c, right.in, &compared, &different, &err) ==
                  ATTEST_OK);
        cases += different > 0;
        attest_bundle_free(right.in);
        attest_bundle_free(left.in);
    }
    return cases;
}

START_TEST(test_violations)
{
    for (size_t k = 0; k < sizeof plants / sizeof plants[0]; k++) {
        const attest_identity *id = attest_identity_find(plants[k].identity);
        ck_assert_ptr_nonnull(id);
        const int cases = seen(id, plants[k].variant, plants[k].plant);
        printf("planted | %-14s | %-40s | seen in %d of 40\n", id->name, plants[k].what, cases);
        ck_assert_msg(cases >= 10, "%s: %s is seen in %d of 40 cases only", id->name, plants[k].what, cases);
    }
    fflush(stdout);
    for (size_t k = 0; k < attest_identity_count; k++) { /* one at least for every kind */
        int planted = 0;
        for (size_t l = 0; l < sizeof plants / sizeof plants[0]; l++)
            planted += strcmp(plants[l].identity, attest_identities[k].name) == 0;
        ck_assert_msg(planted, "no violation planted for %s", attest_identities[k].name);
    }
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------------------------------
 */

/* What an identity does not speak about, and inputs without a rational value: nothing is counted. */
START_TEST(test_refusals)
{
    static const struct {
        const char *identity, *variant, *line;
        double q; /* q[0] of the drawn case, which gets this line */
        attest_status status;
    } rows[] = {
        { "recurrent", "variant=linear", "variant=linear", 1, ATTEST_OK },
        { "recurrent", "variant=linear", "variant=linear", NAN, ATTEST_UNSUPPORTED },
        { "recurrent", "variant=linear", "variant=linear-elu", -1, ATTEST_UNSUPPORTED },
        { "recurrent", "variant=linear", "variant=softmax", 1, ATTEST_UNSUPPORTED },
        { "recurrent", "variant=linear", "variant=taylor:2 clamp=1", 1, ATTEST_UNSUPPORTED },
        { "recurrent", "variant=linear", "variant=cosformer", 1, ATTEST_UNSUPPORTED },
        { "recurrent", "variant=linear", "variant=deltanet", 1, ATTEST_UNSUPPORTED },
        { "quadratic-term", "variant=quadratic", "variant=linear", 1, ATTEST_UNSUPPORTED },
        { "gate-matrix", "variant=linear gates=inout", "variant=sla", 1, ATTEST_UNSUPPORTED },
        { "length-l2", "variant=linear norm=length-l2", "variant=linear norm=l2", 1, ATTEST_UNSUPPORTED },
        { "last-row", "variant=linear", "variant=retnet", 1, ATTEST_UNSUPPORTED },
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        attest_error err;
        attest_case c, other;
        attest_bundle *in;
        const attest_identity *id = attest_identity_find(rows[k].identity);
        int64_t compared = 0, different = 0;
        ck_assert(attest_identity_draw(&c, &in, id, rows[k].variant, 5, &err) == ATTEST_OK);
        ck_assert(attest_case_parse(&other, rows[k].line, NULL, NULL, &err) == ATTEST_OK);
        memcpy(c.problem.axis, other.problem.axis, sizeof c.problem.axis);
        set(attest_bundle_role(in, ATTEST_Q), 0, rows[k].q);
        const attest_status status = attest_identity_check(id, &c, in, &compared, &different, &err);
        ck_assert_msg(status == rows[k].status && (compared > 0) == (status == ATTEST_OK) && different == 0,
                      "%s, %s: status %d, compared %d", id->name, rows[k].line, status, (int)compared);
        attest_bundle_free(in);
    }
}
END_TEST

/* The same seed gives the same case; the right side's shape must be the left one's. */
START_TEST(test_draws)
{
    const attest_identity *id = attest_identity_find("recurrent");
    attest_error err;
    char lines[3][ATTEST_LINE];
    attest_case c[3];
    attest_bundle *in[3];
    int64_t compared = 0, different = 0;
    for (int k = 0; k < 3; k++) {
        ck_assert(attest_identity_draw(&c[k], &in[k], id, "variant=taylor:2", k == 2 ? 4 : 3, &err) == ATTEST_OK);
        ck_assert(attest_case_print(lines[k], sizeof lines[k], &c[k], &err) == ATTEST_OK);
    }
    ck_assert_str_eq(lines[0], lines[1]);
    ck_assert_str_ne(lines[0], lines[2]);
    const attest_tensor *q = attest_bundle_role(in[0], ATTEST_Q), *same = attest_bundle_role(in[1], ATTEST_Q);
    ck_assert(memcmp(q->data, same->data, attest_tensor_bytes(q)) == 0);
    ck_assert(attest_identity_compare(id, &c[0], in[0], &c[2], in[2], &compared, &different, &err) == ATTEST_BAD_INPUT);
    ck_assert(compared == 0 && different == 0);
    for (int k = 0; k < 3; k++)
        attest_bundle_free(in[k]);
    ck_assert(attest_identity_draw(&c[0], &in[0], id, "variant=softmax", 0, &err) == ATTEST_BAD_INPUT);
    ck_assert_ptr_null(in[0]);
    ck_assert(attest_identity_run(id, "variant=softmax", 0, 1, &compared, &different, &err) == ATTEST_BAD_INPUT);
}
END_TEST

Suite *suite_identities(void)
{
    Suite *s = suite_create("identities");
    TCase *t = tcase_create("identities");
    tcase_set_timeout(t, 300); /* under sanitizers, with other jobs beside it */
    tcase_add_checked_fixture(t, NULL, attest_reference_thread_end);
    tcase_add_test(t, test_table);
    tcase_add_test(t, test_violations);
    tcase_add_test(t, test_refusals);
    tcase_add_test(t, test_draws);
    suite_add_tcase(s, t);
    return s;
}

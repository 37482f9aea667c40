/* test_exact_state.c - states of the exact engine, entry by entry, against the formula in rationals. */
#include "tests/reference/exact/exact_cases.h"

Suite *suite_exact_state(void);

/* S_n[r][e] over the keys that the last query sees, decayed up to the last of them; index r = digits in base d, first
 * digit leftmost. */
static void state_by_formula(mpq_t s, const cases_case *c, int64_t b, int64_t g, int n, int64_t r, int64_t e,
                             int z_state)
{
    const attest_problem *p = &c->parsed.problem;
    const int64_t h = g * (p->hq / p->hkv);
    int64_t rows = 1, last = -1;
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    for (int k = 0; k < n; k++)
        rows *= p->d;
    for (int64_t j = 0; j < p->m; j++)
        last = cases_sees(c, b, p->n - 1, j) ? j : last;
    const int64_t at = (b * p->hkv + g) * rows + r;
    mpq_set_ui(s, 0, 1);
    if (p->axis[ATTEST_AXIS_STATE].value)
        mpq_set_d(s, z_state ? attest_load(c->in.z0[n], at) : attest_load(c->in.h0[n], at * p->e + e));
    cases_decay(s, c, b, h, 0, last, r);
    for (int64_t j = 0; j < p->m; j++) {
        if (!cases_sees(c, b, p->n - 1, j))
            continue;
        mpq_set_d(x, z_state ? 1.0 : attest_load(c->in.role[ATTEST_V], ((b * p->hkv + g) * p->m + j) * p->e + e));
        for (int64_t k = 0, rest = r; k < n; k++, rest /= p->d) {
            const int64_t at_k = ((b * p->hkv + g) * p->m + j) * p->d + rest % p->d;
            cases_feature(y, attest_load(c->in.role[ATTEST_K], at_k), p->axis[ATTEST_AXIS_FEATURE].value);
            mpq_mul(x, x, y);
        }
        mpq_set_d(y, z_state ? 1.0 : cases_gin(c, b, h, j));
        mpq_mul(x, x, y);
        cases_decay(x, c, b, h, j + 1, last, r); /* decay=vector: n = 1, r is the key dimension */
        mpq_add(s, s, x);
    }
    mpq_clears(x, y, NULL);
}

/* A random recurrence with decays and gates; causal-br and lens leave queries behind the last key. */
static void open_decayed(cases_case *c, int k, cases_rng *rng)
{
    static const char *const variants[] = { "taylor:2", "term:3",     "taylor:1 feature=relu", "quadratic", "retnet",
                                            "gla",      "simple-gla", "term:1 decay=vector" };
    static const char *const decays[] = { "retnet", "scalar" };
    static const char *const gates[] = { "none", "in", "inout", "out" };
    char line[ATTEST_LINE];
    const long n = cases_between(rng, 1, 7);
    snprintf(line, sizeof line, "variant=%s mask=%s gates=%s hq=2 hkv=%ld n=%ld m=%ld d=%ld e=%ld", variants[k % 8],
             cases_draw(rng) % 2 ? "causal" : "causal-br", gates[cases_between(rng, 0, 3)], cases_between(rng, 1, 2), n,
             n, cases_between(rng, 1, 3), cases_between(rng, 1, 3));
    if (k % 8 < 4)
        snprintf(line + strlen(line), sizeof line - strlen(line), " decay=%s", decays[cases_between(rng, 0, 1)]);
    if (cases_draw(rng) % 2)
        strcat(line, " state=draw");
    if (cases_draw(rng) % 2)
        strcat(line, " lens=draw");
    cases_open(c, line, cases_draw(rng) % 4 ? &cases_plain : &cases_wide, rng);
}

START_TEST(test_states)
{
    static const char *const masks[] = { "full", "causal", "causal-br" };
    cases_rng rng = { 18 };
    int cases = 0;
    mpq_t expected;
    mpq_init(expected);
    for (int k = 0; k < 300; k++) {
        cases_case c;
        attest_error err;
        if (k < 150)
            cases_open_recurrent(&c, k % 4, masks[k % 3], 0, &rng);
        else
            open_decayed(&c, k, &rng);
        const attest_problem *p = &c.parsed.problem;
        const int64_t g = p->hkv - 1;
        cases_set(&c, ATTEST_Q, p->n * p->d * p->hq - 1, -1); /* a state does not read q: elu1 stays rational */
        for (int n = c.in.lowest; n <= c.in.highest; n++) {
            for (int z_state = 0; z_state < 2; z_state++) {
                const int64_t columns = z_state ? 1 : p->e, rows = attest_state_rows(p->d, n, 0);
                mpq_t *s = cases_rationals(rows * columns);
                ck_assert_msg(ref_exact_state_serves(&c.in, 0, g, n), "%s: degree %d", c.line, n);
                ck_assert(ref_exact_state(s, &c.in, 0, g, n, z_state, &err) == ATTEST_OK);
                for (int64_t at = 0; at < rows * columns; at++, cases++) {
                    state_by_formula(expected, &c, 0, g, n, at / columns, at % columns, z_state);
                    ck_assert_msg(mpq_equal(s[at], expected), "%s: degree %d z %d entry %d", c.line, n, z_state,
                                  (int)at);
                }
                cases_rationals_free(s, rows * columns);
            }
        }
        ck_assert(!ref_exact_state_serves(&c.in, 0, g, c.in.highest + 1));
        cases_set(&c, ATTEST_K, (g * p->m) * p->d, NAN); /* key 0 of this head */
        int64_t first, last;
        ref_visible(&c.in, 0, p->n - 1, &first, &last);
        ck_assert_int_eq(ref_exact_state_serves(&c.in, 0, g, c.in.highest), first >= last);
        cases_close(&c);
    }
    ck_assert_msg(cases > 2000, "%d entries", cases);
    mpq_clear(expected);
}
END_TEST

/* update=delta: row a of S is what the query e_a reads at scale 1. */
START_TEST(test_delta_states)
{
    static const char *const variants[] = { "deltanet", "gdn", "deltanet decay=vector", "deltanet decay=retnet" };
    static const char *const rest[] = { "", " gates=inout", " feature=relu state=draw", " gates=in state=draw" };
    cases_rng rng = { 20 };
    for (int k = 0; k < 160; k++) {
        char line[ATTEST_LINE];
        cases_case c;
        attest_error err;
        const long n = cases_between(&rng, 1, 6);
        snprintf(line, sizeof line, "variant=%s%s scale=1 hq=2 hkv=%ld n=%ld m=%ld d=%ld e=2", variants[k % 4],
                 rest[k / 4 % 4], cases_between(&rng, 1, 2), n, n, cases_between(&rng, 1, 3));
        cases_open(&c, line, &cases_plain, &rng);
        const attest_problem *p = &c.parsed.problem;
        const int64_t g = p->hkv - 1, h = g * (p->hq / p->hkv), q = (h * p->n + p->n - 1) * p->d;
        mpq_t *s = cases_rationals(p->d * p->e);
        ck_assert_msg(ref_exact_state_serves(&c.in, 0, g, 1) && !ref_exact_state_serves(&c.in, 0, g, 0), "%s", line);
        ck_assert(ref_exact_state(s, &c.in, 0, g, 1, 1, &err) == ATTEST_BAD_INPUT); /* no z-state */
        ck_assert(ref_exact_state(s, &c.in, 0, g, 1, 0, &err) == ATTEST_OK);
        for (int64_t a = 0; a < p->d; a++) {
            cases_truth t;
            for (int64_t other = 0; other < p->d; other++)
                cases_set(&c, ATTEST_Q, q + other, other == a);
            cases_truth_open(&t, &c, 0, h, p->n - 1);
            for (int64_t e = 0; e < p->e; e++)
                ck_assert_msg(mpq_equal(s[a * p->e + e], t.u[e]), "%s: row %d column %d", line, (int)a, (int)e);
            cases_truth_close(&t);
        }
        cases_rationals_free(s, p->d * p->e);
        cases_close(&c);
    }
}
END_TEST

Suite *suite_exact_state(void)
{
    Suite *s = suite_create("exact_state");
    TCase *t = tcase_create("exact_state");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_states);
    tcase_add_test(t, test_delta_states);
    suite_add_tcase(s, t);
    return s;
}

/* test_exact_state.c - states of the exact engine, entry by entry, against the formula in rationals. */
#include "tests/exact_cases.h"

Suite *suite_exact_state(void);

/* S_n[r][e] over the keys that the last query sees, index r = digits in base d, first digit leftmost. */
static void state_by_formula(mpq_t s, const cases_case *c, int64_t b, int64_t g, int n, int64_t r, int64_t e,
                             int z_state)
{
    const attest_problem *p = &c->parsed.problem;
    int64_t rows = 1;
    mpq_t x, y;
    mpq_inits(x, y, NULL);
    for (int k = 0; k < n; k++)
        rows *= p->d;
    const int64_t at = (b * p->hkv + g) * rows + r;
    mpq_set_ui(s, 0, 1);
    if (p->axis[ATTEST_AXIS_STATE].value)
        mpq_set_d(s, z_state ? attest_load(c->in.z0[n], at) : attest_load(c->in.h0[n], at * p->e + e));
    for (int64_t j = 0; j < p->m; j++) {
        if (!cases_sees(c, b, p->n - 1, j))
            continue;
        mpq_set_d(x, z_state ? 1.0 : attest_load(c->in.role[ATTEST_V], ((b * p->hkv + g) * p->m + j) * p->e + e));
        for (int64_t k = 0, rest = r; k < n; k++, rest /= p->d) {
            const int64_t at_k = ((b * p->hkv + g) * p->m + j) * p->d + rest % p->d;
            cases_feature(y, attest_load(c->in.role[ATTEST_K], at_k), p->axis[ATTEST_AXIS_FEATURE].value);
            mpq_mul(x, x, y);
        }
        mpq_add(s, s, x);
    }
    mpq_clears(x, y, NULL);
}

START_TEST(test_states)
{
    static const char *const masks[] = { "full", "causal", "causal-br" };
    cases_rng rng = { 18 };
    int cases = 0;
    mpq_t expected;
    mpq_init(expected);
    for (int k = 0; k < 150; k++) {
        cases_case c;
        attest_error err;
        cases_open_recurrent(&c, k % 4, masks[k % 3], 0, &rng);
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

Suite *suite_exact_state(void)
{
    Suite *s = suite_create("exact_state");
    TCase *t = tcase_create("exact_state");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_states);
    suite_add_tcase(s, t);
    return s;
}

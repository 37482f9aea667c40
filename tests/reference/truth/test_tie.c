/* test_tie.c - the tie lemma: by hand, against pairwise comparison of scores, and against enclosures at high
 * precision (R-TIE). */
#include "tests/reference/exact/exact_cases.h"

Suite *suite_tie(void);

static const cases_values small = { .bits = 1, .spread = 0, .nonnegative = 0 };

/* One query of d=1 with q=1, keys and values of channel 0 as listed. */
static const struct {
    const char *what, *axes;
    int n;
    double k[5], v[5];
    long numerator;
    unsigned long denominator;
    int answer;
} cases[] = {
    { "constant v", "", 3, { 1, 2, 0.375 }, { 5, 5, 5 }, 5, 1, 1 },
    { "beside constant v", "", 3, { 1, 2, 0.375 }, { 5, 5, 5 }, 5000001, 1000000, 0 },
    { "mirrored at equal scores", "", 3, { 1, 1, 2 }, { 6, 4, 5 }, 5, 1, 1 },
    { "mirrored, two groups", "", 4, { 1, 2, 1, 2 }, { 6, 2, 4, 8 }, 5, 1, 1 },
    { "mirrored, a third off", "", 3, { 1, 1, 2 }, { 6, 4, 5.5 }, 5, 1, 0 },
    { "mirrored at nearly equal scores", "", 3, { 1, 1 + 0x1p-23, 2 }, { 6, 4, 5 }, 5, 1, 0 },
    { "mean over all equals, groups do not", "", 2, { 1, 2 }, { 6, 4 }, 5, 1, 0 },
    { "all equal, mean of three", "", 3, { 0, 0, 0 }, { 0, 0, 1 }, 1, 3, 1 },
    { "all equal, midpoint of two floats", "", 2, { 0, 0 }, { 1, 1 + 0x1p-23 }, 16777217, 16777216, 1 },
    { "all equal, not the mean", "", 3, { 0, 0, 0 }, { 0, 0, 1 }, 1, 2, 0 },
    { "one key", "", 1, { 3 }, { 7 }, 7, 1, 1 },
    { "sink at the scores", "norm=sink", 3, { 0, 0, 0 }, { 4, 4, 4 }, 3, 1, 1 },
    { "sink at the scores, not the mean", "norm=sink", 3, { 0, 0, 0 }, { 4, 4, 4 }, 4, 1, 0 },
    { "sink away from the scores", "norm=sink", 3, { 1, 1, 1 }, { 4, 4, 4 }, 3, 1, 0 },
    { "sink away, zero mean", "norm=sink", 2, { 1, 1 }, { 4, -4 }, 0, 1, 1 },
    { "sink between grid points", "norm=sink sink=2^-40", 3, { 0, 0, 0 }, { 4, 4, 4 }, 3, 1, 0 },
    { "sink between grid points, zero mean", "norm=sink sink=2^-40", 2, { 0, 0 }, { 3, -3 }, 0, 1, 1 },
    { "no norm, scores 0", "norm=none", 3, { 0, 0, 0 }, { 1, 2, 3 }, 6, 1, 1 },
    { "no norm, scores 0, mean", "norm=none", 3, { 0, 0, 0 }, { 1, 2, 3 }, 2, 1, 0 },
    { "no norm, scores 1", "norm=none", 2, { 1, 1 }, { 1, 2 }, 3, 1, 0 },
    { "no norm, scores 1, zero sum", "norm=none", 2, { 1, 1 }, { 2, -2 }, 0, 1, 1 },
    { "eps at scores 0", "eps=1", 3, { 0, 0, 0 }, { 1, 1, 2 }, 1, 1, 1 },
    { "eps at scores 1", "eps=1", 3, { 1, 1, 1 }, { 1, 1, 2 }, 1, 1, 0 },
    { "elu1, all inputs >= 0", "feature=elu1", 2, { 2, 2 }, { 1, 3 }, 2, 1, 1 },
    { "elu1, an input < 0", "feature=elu1", 2, { -2, -2 }, { 1, 3 }, 2, 1, -1 },
    { "relu joins what is below 0", "feature=relu", 2, { -2, -1 }, { 1, 3 }, 2, 1, 1 },
    { "identity does not", "", 2, { -2, -1 }, { 1, 3 }, 2, 1, 0 },
    { "tanh", "cap=30", 2, { 2, 2 }, { 1, 3 }, 2, 1, -1 },
    { "Taylor weights are for the exact engine", "weight=taylor:2", 2, { 2, 2 }, { 1, 3 }, 2, 1, -1 },
    { "not finite", "", 2, { 2, INFINITY }, { 1, 3 }, 2, 1, -1 },
};

START_TEST(test_by_hand)
{
    cases_rng rng = { 1 };
    mpq_t candidate;
    mpq_init(candidate);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char line[256], axes[64];
        snprintf(axes, sizeof axes, "%s", cases[k].axes);
        char *sink = strstr(axes, " sink=2^-40");
        if (sink)
            *sink = '\0';
        snprintf(line, sizeof line, "variant=softmax %s n=1 m=%d d=1 e=1 scale=1 in=f32", axes, cases[k].n);
        cases_case c;
        cases_open(&c, line, &small, &rng);
        cases_set(&c, ATTEST_Q, 0, 1);
        for (int j = 0; j < cases[k].n; j++) {
            cases_set(&c, ATTEST_K, j, cases[k].k[j]);
            cases_set(&c, ATTEST_V, j, cases[k].v[j]);
        }
        if (c.in.role[ATTEST_SINK])
            cases_set(&c, ATTEST_SINK, 0, sink ? 0x1p-40 : 0);
        mpq_set_si(candidate, cases[k].numerator, cases[k].denominator);
        const int answer = ref_tie(&c.in, (attest_row){ 0, 0, 0 }, 0, candidate);
        ck_assert_msg(answer == cases[k].answer, "%s: %d", cases[k].what, answer);
        cases_close(&c);
    }
    mpq_clear(candidate);
}
END_TEST

START_TEST(test_empty_row)
{
    cases_rng rng = { 2 };
    cases_case c;
    mpq_t candidate;
    mpq_init(candidate);
    cases_open(&c, "variant=softmax mask=causal-br n=3 m=2 d=2 e=1", &small, &rng);
    ck_assert_int_eq(ref_tie(&c.in, (attest_row){ 0, 0, 0 }, 0, candidate), 1);
    mpq_set_ui(candidate, 1, 1);
    ck_assert_int_eq(ref_tie(&c.in, (attest_row){ 0, 0, 0 }, 0, candidate), 0);
    cases_close(&c);
    mpq_clear(candidate);
}
END_TEST

START_TEST(test_sink_of_the_head)
{
    cases_rng rng = { 4 };
    cases_case c;
    mpq_t candidate;
    mpq_init(candidate);
    mpq_set_ui(candidate, 3, 1);
    cases_open(&c, "variant=softmax1 n=1 m=3 hq=2 hkv=1 d=1 e=1 scale=1", &small, &rng);
    for (int j = 0; j < 3; j++) {
        cases_set(&c, ATTEST_K, j, 0);
        cases_set(&c, ATTEST_V, j, 4);
    }
    cases_set(&c, ATTEST_SINK, 0, 1);
    cases_set(&c, ATTEST_SINK, 1, 0);
    ck_assert_int_eq(ref_tie(&c.in, (attest_row){ 0, 0, 0 }, 0, candidate), 0);
    ck_assert_int_eq(ref_tie(&c.in, (attest_row){ 0, 1, 0 }, 0, candidate), 1);
    cases_close(&c);
    mpq_clear(candidate);
}
END_TEST

/* Every key's group of equal scores, found pair by pair, has mean `candidate`. */
static int groups_agree(const cases_case *c, int64_t b, int64_t h, int64_t i, int64_t channel, const mpq_t candidate)
{
    const attest_problem *p = &c->parsed.problem;
    int agree = 1;
    mpq_t s, other, sum, v;
    mpq_inits(s, other, sum, v, NULL);
    for (int64_t j = 0; j < p->m; j++) {
        if (!cases_sees(c, b, i, j))
            continue;
        cases_score(s, c, b, h, i, j);
        mpq_set_ui(sum, 0, 1);
        for (int64_t l = 0; l < p->m; l++) {
            if (!cases_sees(c, b, i, l))
                continue;
            cases_score(other, c, b, h, i, l);
            if (!mpq_equal(s, other))
                continue;
            mpq_set_d(v, cases_v(c, b, h, l, channel));
            mpq_add(sum, sum, v);
            mpq_sub(sum, sum, candidate);
        }
        agree &= mpq_sgn(sum) == 0;
    }
    mpq_clears(s, other, sum, v, NULL);
    return agree;
}

/* Few different inputs, so that ties are frequent; at 1000 bits the enclosure of o holds the candidate exactly where
 * the lemma says that they are equal. */
START_TEST(test_random)
{
    static const char *const masks[] = { "full", "causal", "causal-br" };
    cases_rng rng = { 3 };
    int ties = 0, others = 0;
    mpq_t candidate;
    fmpq_t exact;
    mpq_init(candidate);
    fmpq_init(exact);
    for (int k = 0; k < 2000; k++) {
        char line[256];
        const long n = cases_between(&rng, 1, 4), m = cases_between(&rng, 1, 5);
        snprintf(line, sizeof line, "variant=softmax mask=%s n=%ld m=%ld hq=2 hkv=%ld d=%ld e=2 in=%s scale=0.5%s",
                 masks[cases_between(&rng, 0, 2)], n, m, cases_between(&rng, 1, 2), cases_between(&rng, 1, 2),
                 k % 2 ? "f32" : "bf16", k % 5 ? "" : " window=2");
        cases_case c;
        attest_error err;
        ref_row row;
        cases_open(&c, line, &small, &rng);
        const int64_t h = cases_between(&rng, 0, 1), i = cases_between(&rng, 0, n - 1);
        const int64_t channel = cases_between(&rng, 0, 1);
        mpq_set_si(candidate, cases_between(&rng, -2, 2), 2);
        mpq_canonicalize(candidate);
        const int answer = ref_tie(&c.in, (attest_row){ 0, h, i }, channel, candidate);
        ref_row_init(&row);
        ck_assert_msg(ref_ball_row(&row, &c.in, (attest_row){ 0, h, i }, 1000, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_msg(row.empty || answer == groups_agree(&c, 0, h, i, channel, candidate), "%s: %d", line, answer);
        fmpq_set_mpq(exact, candidate);
        ck_assert_msg(row.empty || (arb_contains_fmpq(row.o + channel, exact) != 0) == answer,
                      "%s: lemma says %d, the enclosure does not", line, answer);
        ref_row_clear(&row);
        cases_close(&c);
        ties += answer == 1;
        others += answer == 0;
    }
    ck_assert_msg(ties >= 50 && others >= 50, "%d ties, %d others", ties, others);
    fmpq_clear(exact);
    mpq_clear(candidate);
}
END_TEST

Suite *suite_tie(void)
{
    Suite *s = suite_create("tie");
    TCase *t = tcase_create("tie");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_by_hand);
    tcase_add_test(t, test_empty_row);
    tcase_add_test(t, test_sink_of_the_head);
    tcase_add_test(t, test_random);
    suite_add_tcase(s, t);
    return s;
}

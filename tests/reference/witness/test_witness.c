/* test_witness.c - the witness against the other engines on 600 random problem lines.
 *
 * Every row of every line: the witness at 512 bits has an error of at most 2^-300 abs_scale, its interval meets
 * the ball row, the exact rational and the printed decimals of every output and state, and it agrees which
 * rows are empty, ill-posed or without lse; a second witness at 64 bits must meet the first, so that its own
 * error rules are tested too.  One line in six has NaN or infinities somewhere in its inputs: both must agree
 * which rows read them.  The lines come from one fixed seed; they cover every preset, every axis value and the pairs of
 * values of witness_lines.h.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "kernels/attest_float.h"
#include "props/draw/draw.h"
#include "tests/reference/witness/witness_lines.h"
#include "tests/reference/witness/witness_meets.h"

Suite *suite_witness(void);

enum { LINES = 600, LOW_BITS = 64, BALL_BITS = 256, DIGITS = 40 };

typedef struct tally {
    long lines, skipped, rows, elements, exact_rows, state_elements, exact_states, illposed, empty, no_truth, open;
    int text[COUNT(covered)], pair[COUNT(pairs)], value[ATTEST_AXIS_COUNT][32], preset[100];
} tally;

typedef struct line_check {
    attest_case c;
    char line[ATTEST_LINE];
    attest_bundle *bundle;
    ref_inputs in;
    attest_truth *ball, *automatic;
    int spoilt; /* non-finite values were put into the inputs */
    tally *sum;
    attest_error err;
} line_check;

#define MUST(call, lc) ck_assert_msg((call) == ATTEST_OK, "%s: %s", (lc)->line, (lc)->err.text)

/* ---- one element -------------------------------------------------------------------------------------------- */
typedef struct place {
    const char *output;
    int64_t b, h, i, c;
    const attest_decimals *ball, *automatic;
    int64_t index; /* in the decimals */
} place;

#define EXPECT(condition, what)                                                                                        \
    ck_assert_msg(condition, "%s: %s[%d,%d,%d,%d]: %s", lc->line, at->output, (int)at->b, (int)at->h, (int)at->i,      \
                  (int)at->c, what)

static void check_decimals(line_check *lc, const place *at, mpfr_srcptr v, mpfr_srcptr e, const mag_t abs_scale)
{
    const attest_decimals *both[2] = { at->ball, at->automatic };
    for (int n = 0; n < 2; n++) {
        const char *mid = both[n]->mid[at->index], *rad = both[n]->rad[at->index];
        EXPECT(mid && rad, "no decimal although the witness has a value");
        EXPECT(meets_decimal(v, e, mid, rad), n ? "printed interval (auto)" : "printed interval (ball)");
        EXPECT(rad_below_abs_scale(rad, abs_scale, 100), "rad above 2^-100 abs_scale");
    }
    if (at->automatic->exact) {
        mpq_t q;
        mpq_init(q);
        EXPECT(mpq_set_str(q, at->automatic->exact[at->index], 10) == 0, "exact text");
        EXPECT(meets_rational(v, e, q), "printed rational");
        mpq_clear(q);
    }
}

static void check_value(line_check *lc, const place *at, const ref_witness *high, const ref_witness *low, mpfr_srcptr v,
                        mpfr_srcptr e, mpfr_srcptr low_v, mpfr_srcptr low_e, const arb_t ball, const arb_t automatic,
                        const mag_t abs_scale)
{
    EXPECT(high->no_truth == 0 && low->no_truth == 0, "no truth");
    EXPECT(mpfr_number_p(v) && mpfr_number_p(e), "the witness knows nothing");
    EXPECT(below_abs_scale(e, abs_scale, 300), "the witness's error is above 2^-300 abs_scale");
    EXPECT(meets_ball(v, e, ball), "ball engine");
    EXPECT(meets_ball(v, e, automatic), "auto engine");
    if (mpfr_number_p(low_v))
        EXPECT(meets_number(v, e, low_v, low_e), "the witness at 64 bits claims too small an error");
    check_decimals(lc, at, v, e, abs_scale);
    lc->sum->elements++;
}

/* ---- one row -------------------------------------------------------------------------------------------------- */
typedef struct outputs {
    attest_decimals d[4][2]; /* o u z lse; ball, auto */
    int has[4];
} outputs;

static const attest_role roles[4] = { ATTEST_O, ATTEST_U, ATTEST_Z, ATTEST_LSE };

static void check_empty(line_check *lc, const outputs *out, const ref_witness *w, const ref_row *row, place *at,
                        int64_t row_index)
{
    at->output = "row";
    EXPECT(row->empty && w->empty, "empty or not");
    for (int64_t c = 0; c < w->e; c++)
        EXPECT(mpfr_zero_p(w->u[c]) && mpfr_zero_p(w->o[c]), "an empty row is 0");
    EXPECT(mpfr_zero_p(w->z) && mpfr_inf_p(w->lse) && mpfr_signbit(w->lse), "an empty row has z=0, lse=-inf");
    EXPECT(strcmp(out->d[0][0].mid[row_index * w->e], "0") == 0, "o of an empty row is printed as 0");
    if (out->has[3])
        EXPECT(strcmp(out->d[3][0].mid[row_index], "-inf") == 0, "lse of an empty row is printed as -inf");
    lc->sum->empty++;
}

/* An output without a value has no decimals. */
static void check_absent(line_check *lc, const outputs *out, place *at, int output, int64_t row_index)
{
    const int64_t e = lc->c.problem.e;
    for (int engine = 0; engine < 2 && out->has[output]; engine++)
        for (at->c = 0; at->c < (output < 2 ? e : 1); at->c++) {
            const int64_t index = output < 2 ? row_index * e + at->c : row_index;
            at->output = attest_roles[roles[output]].name;
            const attest_decimals *d = &out->d[output][engine];
            EXPECT(!d->mid[index] && !d->rad[index], "printed although the row has none");
        }
}

static void check_exact_row(line_check *lc, const ref_witness *w, const ref_row *row, place *at)
{
    at->output = "exact";
    if (attest_axis_value_of(&lc->c.problem, ATTEST_AXIS_UPDATE) == ATTEST_UPDATE_ADD)
        EXPECT(meets_rational(w->z, w->z_error, row->zq), "z as a rational");
    for (at->c = 0; at->c < w->e; at->c++) {
        EXPECT(meets_rational(w->u[at->c], w->u_error[at->c], row->uq[at->c]), "u as a rational");
        if (!w->illposed)
            EXPECT(meets_rational(w->o[at->c], w->o_error[at->c], row->oq[at->c]), "o as a rational");
    }
    lc->sum->exact_rows++;
}

static void check_outputs(line_check *lc, const outputs *out, const ref_witness *w, const ref_witness *low,
                          const ref_row *ball, const ref_row *automatic, place *at, int64_t row_index)
{
    const int64_t e = w->e;
    mag_ptr abs_scale = calloc((size_t)e, sizeof *abs_scale);
    for (int n = 0; n < 4; n++) {
        if ((n == 0 && w->illposed) || (n == 3 && w->lse_absent)) {
            check_absent(lc, out, at, n, row_index);
            continue;
        }
        if (!out->has[n])
            continue;
        MUST(ref_abs_scale_row(abs_scale, ball, &lc->in, (attest_tensor_id){ ATTEST_KIND_ROLE, roles[n] },
                               (attest_row){ at->b, at->h, at->i }, &lc->err),
             lc);
        at->output = attest_roles[roles[n]].name;
        at->ball = &out->d[n][0];
        at->automatic = &out->d[n][1];
        const mpfr_t *v[4] = { w->o, w->u, &w->z, &w->lse };
        const mpfr_t *x[4] = { w->o_error, w->u_error, &w->z_error, &w->lse_error };
        const mpfr_t *lv[4] = { low->o, low->u, &low->z, &low->lse };
        const mpfr_t *lx[4] = { low->o_error, low->u_error, &low->z_error, &low->lse_error };
        arb_srcptr bv[4] = { ball->o, ball->u, ball->z, ball->lse };
        arb_srcptr av[4] = { automatic->o, automatic->u, automatic->z, automatic->lse };
        for (at->c = 0; at->c < (n < 2 ? e : 1); at->c++) {
            at->index = n < 2 ? row_index * e + at->c : row_index;
            check_value(lc, at, w, low, v[n][at->c], x[n][at->c], lv[n][at->c], lx[n][at->c], bv[n] + at->c,
                        av[n] + at->c, abs_scale + at->c);
        }
    }
    for (int64_t c = 0; c < e; c++)
        mag_clear(abs_scale + c);
    free(abs_scale);
}

static void check_row(line_check *lc, const outputs *out, int64_t b, int64_t h, int64_t i)
{
    const attest_problem *p = &lc->c.problem;
    const int64_t row_index = (b * p->hq + h) * p->n + i;
    place place_of_row = { "row", b, h, i, 0, NULL, NULL, 0 }, *at = &place_of_row;
    ref_witness w, low;
    ref_row *ball = NULL, *automatic = NULL;
    ref_witness_init(&w);
    ref_witness_init(&low);
    MUST(ref_witness_row(&w, p, lc->bundle, (attest_row){ b, h, i }, BITS, &lc->err), lc);
    MUST(ref_witness_row(&low, p, lc->bundle, (attest_row){ b, h, i }, LOW_BITS, &lc->err), lc);
    MUST(ref_truth_row(&ball, lc->ball, (attest_row){ b, h, i }, BALL_BITS, &lc->err), lc);
    MUST(ref_truth_row(&automatic, lc->automatic, (attest_row){ b, h, i }, BALL_BITS, &lc->err), lc);
    EXPECT(w.no_truth == ball->no_truth, "readable or not");
    if (w.empty || ball->empty) {
        check_empty(lc, out, &w, ball, at, row_index);
    } else if (attest_axis_value_of(p, ATTEST_AXIS_FILTER) != ATTEST_FILTER_NONE && !w.no_truth && mpfr_nan_p(w.z)) {
        lc->sum->open++; /* a score at the filter's threshold */
    } else if (!w.no_truth) {
        EXPECT(w.illposed == ball->illposed && w.illposed == automatic->illposed, "ill-posed or not");
        EXPECT(w.lse_absent == (automatic->lse_absent || automatic->lse_open), "lse there or not");
        lc->sum->illposed += w.illposed;
        if (automatic->rational)
            check_exact_row(lc, &w, automatic, at);
        check_outputs(lc, out, &w, &low, ball, automatic, at, row_index);
    }
    for (int n = 0; n < 4 && w.no_truth; n++)
        check_absent(lc, out, at, n, row_index);
    lc->sum->no_truth += w.no_truth;
    lc->sum->rows++;
    ref_witness_clear(&w);
    ref_witness_clear(&low);
}

static void check_rows(line_check *lc)
{
    const attest_problem *p = &lc->c.problem;
    outputs out = { .has = { 0 } };
    for (int n = 0; n < 4; n++) {
        const attest_tensor_id id = { ATTEST_KIND_ROLE, roles[n] };
        char why[256];
        out.has[n] = attest_problem_has(p, id, why, sizeof why);
        if (!out.has[n])
            continue;
        MUST(attest_truth_decimals(&out.d[n][0], lc->ball, id, DIGITS, 0, &lc->err), lc);
        MUST(attest_truth_decimals(&out.d[n][1], lc->automatic, id, DIGITS, 0, &lc->err), lc);
    }
    for (int64_t b = 0; b < p->b; b++)
        for (int64_t h = 0; h < p->hq; h++)
            for (int64_t i = 0; i < p->n; i++)
                check_row(lc, &out, b, h, i);
    for (int n = 0; n < 8; n++)
        if (out.has[n / 2])
            attest_decimals_free(&out.d[n / 2][n % 2]);
}

/* ---- states ----------------------------------------------------------------------------------------------------- */
static void check_state(line_check *lc, int64_t b, int64_t g, int degree, int z_state)
{
    const attest_problem *p = &lc->c.problem;
    const attest_tensor_id id = { z_state ? ATTEST_KIND_ZT : ATTEST_KIND_HT, (uint32_t)degree };
    const int64_t count = wit_state_rows(p, (unsigned)degree) * (z_state ? 1 : p->e);
    place place_of_state = { z_state ? "zt" : "ht", b, g, degree, 0, NULL, NULL, 0 }, *at = &place_of_state;
    attest_decimals d;
    mpfr_t *v = calloc((size_t)count, sizeof *v), *x = calloc((size_t)count, sizeof *x);
    mpq_t *q = calloc((size_t)count, sizeof *q);
    arb_ptr ball = _arb_vec_init(count);
    mag_ptr abs_scale = calloc((size_t)count, sizeof *abs_scale);
    for (int64_t n = 0; n < count; n++) {
        mpfr_init2(v[n], BITS);
        mpfr_init2(x[n], WIT_ERROR_BITS);
        mpq_init(q[n]);
    }
    const int exact = ref_exact_state_serves(&lc->in, b, g, degree);
    MUST(ref_witness_state(v, x, p, lc->bundle, b, g, degree, z_state, BITS, &lc->err), lc);
    MUST(ref_ball_state(ball, abs_scale, &lc->in, b, g, degree, z_state, BALL_BITS, &lc->err), lc);
    MUST(attest_truth_decimals(&d, lc->automatic, id, DIGITS, 0, &lc->err), lc);
    if (exact)
        MUST(ref_exact_state(q, &lc->in, b, g, degree, z_state, &lc->err), lc);
    for (at->c = 0; at->c < count; at->c++) {
        at->index = (b * p->hkv + g) * count + at->c;
        if (!mpfr_number_p(v[at->c])) {
            EXPECT(lc->spoilt && !arb_is_finite(ball + at->c) && !d.mid[at->index], "a value from a non-finite input");
            lc->sum->no_truth++;
            continue;
        }
        EXPECT(below_abs_scale(x[at->c], abs_scale + at->c, 300), "the witness's error");
        EXPECT(meets_ball(v[at->c], x[at->c], ball + at->c), "ball engine");
        EXPECT(!exact || meets_rational(v[at->c], x[at->c], q[at->c]), "exact engine");
        at->ball = at->automatic = &d;
        check_decimals(lc, at, v[at->c], x[at->c], abs_scale + at->c);
    }
    lc->sum->state_elements += count;
    lc->sum->exact_states += exact ? count : 0;
    for (int64_t n = 0; n < count; n++) {
        mpfr_clears(v[n], x[n], (mpfr_ptr)0);
        mpq_clear(q[n]);
        mag_clear(abs_scale + n);
    }
    _arb_vec_clear(ball, count);
    attest_decimals_free(&d);
    free(v);
    free(x);
    free(q);
    free(abs_scale);
}

static void check_states(line_check *lc)
{
    const attest_problem *p = &lc->c.problem;
    int lowest, highest;
    char why[256];
    if (!attest_variant_degrees(p->axis, &lowest, &highest))
        return;
    for (int n = lowest; n <= highest; n++)
        for (int z_state = 0; z_state < 2; z_state++) {
            const attest_tensor_id id = { z_state ? ATTEST_KIND_ZT : ATTEST_KIND_HT, (uint32_t)n };
            if (!attest_problem_has(p, id, why, sizeof why) || wit_state_rows(p, (unsigned)n) * p->e * p->m > 4000)
                continue;
            for (int64_t b = 0; b < p->b; b++)
                for (int64_t g = 0; g < p->hkv; g++)
                    check_state(lc, b, g, n, z_state);
        }
}

/* ---- non-finite inputs ------------------------------------------------------------------------------------------ */
/* Puts up to three NaN or infinities anywhere into the inputs. */
static void spoil(line_check *lc, uint64_t *r)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const int count = (int)attest_problem_inputs(&lc->c.problem, ids, ATTEST_MAX_TENSORS);
    for (int n = 1 + pick(r, 3); n > 0; n--) {
        const attest_tensor *t = attest_bundle_get(lc->bundle, ids[pick(r, count)]);
        const double value = bad[pick(r, COUNT(bad))];
        const int at = pick(r, (int)attest_tensor_count(t));
        if (t->dtype != ATTEST_I64)
            attest_store_bits(t, at, attest_from_f64(t->dtype, value));
    }
    lc->spoilt = 1;
}

/* ---- the lines -------------------------------------------------------------------------------------------------- */
/* Some lines are spoilt where `seed` is not NULL, before there is a truth, which keeps numbers of 8 bits. */
static void start_line(line_check *lc, uint64_t *seed)
{
    char why[256];
    MUST(attest_bundle_new(&lc->bundle, &lc->err), lc);
    MUST(attest_draw_missing(lc->bundle, &lc->c, 0, 0, &lc->err), lc);
    ck_assert_msg(ref_witness_serves(&lc->c.problem, why, sizeof why), "%s: %s", lc->line, why);
    if (seed && pick(seed, 6) == 0)
        spoil(lc, seed);
    MUST(ref_inputs_set(&lc->in, &lc->c.problem, lc->bundle, &lc->err), lc);
    MUST(attest_truth_new(&lc->ball, &lc->c.problem, lc->bundle, ATTEST_ENGINE_BALL, &lc->err), lc);
    MUST(attest_truth_new(&lc->automatic, &lc->c.problem, lc->bundle, ATTEST_ENGINE_AUTO, &lc->err), lc);
}

static void stop_line(line_check *lc)
{
    attest_truth_free(lc->ball);
    attest_truth_free(lc->automatic);
    ref_inputs_clear(&lc->in);
    attest_bundle_free(lc->bundle);
}

static void check_line(line_check *lc, uint64_t *seed)
{
    char why[256];
    lc->sum->lines++;
    if (!attest_truth_serves(&lc->c.problem, why, sizeof why)) {
        lc->sum->skipped++;
        return;
    }
    start_line(lc, seed);
    check_rows(lc);
    check_states(lc);
    stop_line(lc);
}

/* Counts what the line covers. */
static void count_line(tally *sum, const line_check *lc)
{
    for (int k = 0; k < COUNT(covered); k++)
        sum->text[k] += strstr(lc->line, covered[k]) != NULL;
    for (int k = 0; k < COUNT(pairs); k++)
        sum->pair[k] += granted(&lc->c, pairs[k]);
    for (uint32_t k = 0; k < ATTEST_AXIS_COUNT; k++)
        sum->value[k][lc->c.problem.axis[k].value]++;
    for (size_t k = 0; k < attest_preset_count; k++) {
        const size_t length = strlen(attest_presets[k].name);
        sum->preset[k] += strncmp(lc->c.preset, attest_presets[k].name, length) == 0 &&
                          (lc->c.preset[length] == '\0' || lc->c.preset[length] == ':');
    }
}

static void check_coverage(const tally *sum)
{
    for (int k = 0; k < COUNT(covered); k++)
        ck_assert_msg(sum->text[k] >= 3, "only %d lines have %s", sum->text[k], covered[k]);
    for (int k = 0; k < COUNT(pairs); k++)
        ck_assert_msg(sum->pair[k] >= 4, "only %d lines have value %u of %s and %u of %s", sum->pair[k], pairs[k].va,
                      attest_axes[pairs[k].a].key, pairs[k].vb, attest_axes[pairs[k].b].key);
    for (uint32_t k = 0; k < ATTEST_AXIS_COUNT; k++)
        for (uint32_t v = 0; v < attest_axes[k].value_count; v++)
            ck_assert_msg(sum->value[k][v] >= 5, "only %d lines have value %u of %s", sum->value[k][v], v,
                          attest_axes[k].key);
    for (size_t k = 0; k < attest_preset_count; k++)
        ck_assert_msg(sum->preset[k] >= 6, "only %d lines have %s", sum->preset[k], attest_presets[k].name);
}

/* Heads beyond a power of two, which random lines have not; roots and powers of two. */
START_TEST(usual_slopes_agree)
{
    static const char *const lines[] = { "variant=softmax alibi=usual mask=causal hq=12 hkv=4 n=4 d=2 e=2",
                                         "variant=taylor:2 alibi=usual mask=causal-br hq=3 hkv=1 n=3 m=6 d=2 e=2",
                                         "variant=softmax alibi=usual cap=2 clamp=1 hq=16 hkv=2 n=2 m=5 d=2 e=2",
                                         "variant=linear alibi=usual hq=7 n=3 d=2 e=2 in=f64" };
    tally sum = { 0 };
    uint64_t seed = 5;
    for (size_t n = 0; n < sizeof lines / sizeof lines[0]; n++) {
        line_check lc = { .sum = &sum };
        attest_error err;
        snprintf(lc.line, sizeof lc.line, "%s", lines[n]);
        ck_assert_msg(attest_case_parse(&lc.c, lc.line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
        check_line(&lc, &seed);
    }
    ck_assert(sum.rows - sum.no_truth >= 60 && sum.open == 0);
    flint_cleanup();
}
END_TEST

START_TEST(random_lines_agree)
{
    tally sum = { 0 };
    uint64_t seed = 20261121;
    for (int n = 0; n < LINES; n++) {
        line_check lc = { .sum = &sum };
        ck_assert_msg(random_line(lc.line, &lc.c, n, &seed), "line %d: none has value %u of %s and %u of %s", n,
                      wish_of(n / 2).va, attest_axes[wish_of(n / 2).a].key, wish_of(n / 2).vb,
                      attest_axes[wish_of(n / 2).b].key);
        count_line(&sum, &lc);
        check_line(&lc, &seed);
    }
    printf("witness: %ld lines (%ld skipped), %ld rows (%ld exact, %ld empty, %ld ill-posed, %ld of non-finite inputs, "
           "%ld open), %ld elements, %ld of states (%ld exact)\n",
           sum.lines, sum.skipped, sum.rows, sum.exact_rows, sum.empty, sum.illposed, sum.no_truth, sum.open,
           sum.elements, sum.state_elements, sum.exact_states);
    fflush(stdout);
    check_coverage(&sum);
    ck_assert(sum.lines == LINES && sum.empty > 10 && sum.illposed > 10);
    ck_assert(sum.no_truth > 100 && 1000 * sum.open <= sum.rows); /* ties of irrational scores with the threshold */
    ck_assert(sum.skipped == 0 && sum.exact_rows > 1000 && sum.state_elements > 1000 && sum.exact_states > 1000);
    flint_cleanup();
}
END_TEST

/* A key that is NaN or infinite makes its state elements unknown, also where relu or e^x would hide it. */
START_TEST(states_of_non_finite_keys)
{
    static const char *const lines[] = { "variant=linear-relu n=3 d=1 e=1", "variant=linear-elu n=3 d=1 e=1",
                                         "variant=linear n=3 d=1 e=1" };
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int n = 0; n < COUNT(lines) * COUNT(bad); n++) {
        line_check lc = { .spoilt = 1, .sum = &(tally){ 0 } };
        strcpy(lc.line, lines[n / COUNT(bad)]);
        MUST(attest_case_parse(&lc.c, lc.line, NULL, NULL, &lc.err), &lc);
        start_line(&lc, NULL);
        const attest_tensor *k = attest_bundle_role(lc.bundle, ATTEST_K);
        attest_store_bits(k, 1, attest_from_f64(k->dtype, bad[n % COUNT(bad)]));
        check_states(&lc);
        ck_assert_int_eq(lc.sum->state_elements, 2);
        ck_assert_int_eq(lc.sum->no_truth, 2);
        stop_line(&lc);
    }
    flint_cleanup();
}
END_TEST

Suite *suite_witness(void)
{
    Suite *suite = suite_create("witness");
    TCase *lines = tcase_create("lines");
    tcase_set_timeout(lines, 120);
    tcase_add_test(lines, usual_slopes_agree);
    tcase_add_test(lines, random_lines_agree);
    tcase_add_test(lines, states_of_non_finite_keys);
    suite_add_tcase(suite, lines);
    return suite;
}

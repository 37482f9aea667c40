/* test_exact.c - the exact engine against the formula in rationals, and the identities between its forms: equal as
 * rationals, no tolerance anywhere. */
#include "tests/reference/exact/exact_cases.h"

#include "reference/exact/exact_integer.h"

Suite *suite_exact(void);

enum { PER_ORDER = 100, ORDERS = 5 }; /* each identity: 100 random cases for each of the orders 0..4 */

static const cases_values coarse = { .bits = 1, .spread = 0, .nonnegative = 0 }; /* z = 0 happens */

static int equal(mpq_t *u, const mpq_t z, mpq_t *u2, const mpq_t z2, int64_t e)
{
    int same = mpq_equal(z, z2);
    for (int64_t c = 0; c < e; c++)
        same &= mpq_equal(u[c], u2[c]);
    return same;
}

static int holds(const arb_t ball, const mpq_t x)
{
    fmpq_t exact;
    fmpq_init(exact);
    fmpq_set_mpq(exact, x);
    const int inside = arb_contains_fmpq(ball, exact);
    fmpq_clear(exact);
    return inside;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void append(char *line, size_t len, const char *text)
{
    snprintf(line + strlen(line), len - strlen(line), "%s", text);
}

/* One of the texts, the first one three times as often as the rest together where `rare`. */
static void append_one(char *line, size_t len, const char *const *texts, long count, int rare, cases_rng *rng)
{
    append(line, len, rare && cases_draw(rng) % 4 ? texts[0] : texts[cases_between(rng, 0, count - 1)]);
}
#define APPEND(texts, rare) append_one(line, len, texts, (long)(sizeof texts / sizeof texts[0]), rare, rng)

/* One attempt at a line over all that the exact engine serves, and a little more (elu1 below 0). */
static void draw_line(char *line, size_t len, cases_rng *rng)
{
    // clang-format off
    static const char *const variants[] = {
        "taylor:0", "taylor:2", "taylor:3", "taylor:4", "shifted:2", "term:0", "term:3", "quadratic", "linear",
        "linear-relu", "linear-elu", "elu-taylor:2", "relu-taylor:3", "based", "filtered:0.5", "retnet", "gla",
        "simple-gla", "deltanet", "gdn", "deltanet decay=vector", "gla state=draw", "retnet state=draw",
        "gdn state=draw" };
    // clang-format on
    static const char *const masks[] = { "", " mask=full", " mask=causal", " mask=causal-br" };
    static const char *const centers[] = { "", " center=max", " center=min", " center=mid" };
    static const char *const dtypes[] = { " in=f32", " in=bf16", " in=f16", " in=f64" };
    static const char *const gates[] = { "", " gates=in", " gates=out", " gates=inout", " gates=pre-out" };
    static const char *const norms[] = {
        "", " norm=sum", " norm=none", " norm=length", " norm=floor:1", " norm=floor:-0.25", " norm=sum eps=0.5"
    };
    static const char *const decays[] = { "", " decay=retnet", " decay=scalar", " decay=vector" };
    static const char *const steps[] = {
        "", " clamp=0.5", " alibi=draw", " clamp=-1 alibi=draw", " filter=1", " filter=1 clamp=0.125", " alibi=usual"
    };
    static const char *const states[] = { "", " state=draw", " window=3" };
    static const char *const lens[] = { "", " lens=draw", BIASES, MASKS };
    const long v = cases_between(rng, 0, (long)(sizeof variants / sizeof variants[0]) - 1);
    const long hkv = cases_between(rng, 1, 2), n = cases_between(rng, 1, 6);
    snprintf(line, len, "variant=%s b=2 hkv=%ld hq=%ld n=%ld m=%ld d=%ld e=%ld", variants[v], hkv,
             hkv * cases_between(rng, 1, 2), n, cases_draw(rng) % 2 ? n : cases_between(rng, 1, 6),
             cases_between(rng, 1, 4), cases_between(rng, 1, 3));
    APPEND(masks, v > 14);
    APPEND(centers, 1);
    APPEND(dtypes, 0);
    APPEND(gates, 0);
    APPEND(norms, 1);
    APPEND(steps, 1);
    APPEND(states, 1);
    APPEND(lens, 1);
    if (!strstr(line, "decay="))
        APPEND(decays, 1);
    if (cases_draw(rng) % 2)
        snprintf(line + strlen(line), len - strlen(line), " scale=%g", (double)cases_between(rng, -20, 20) / 16);
}

static const cases_values *random_line(char *line, size_t len, cases_rng *rng)
{
    static const cases_values *const values[] = { &cases_plain, &cases_positive, &cases_wide, &coarse };
    attest_case parsed;
    attest_error err;
    do
        draw_line(line, len, rng);
    while (attest_case_parse(&parsed, line, NULL, NULL, &err) != ATTEST_OK); /* contradictory axes */
    return values[cases_between(rng, 0, 3)];
}

/* How often each special thing was met. */
typedef struct tally {
    int rows, served, refused, empty, illposed, negative;
    int value[ATTEST_AXIS_COUNT][8]; /* served rows of each axis value */
} tally;

/* No numerator, no denominator of the row is longer than predicted (R-EXACT-SIZE). */
static void check_size(const cases_case *c, const ref_row *row, int64_t b, int64_t h, int64_t i)
{
    exact_keys r;
    ck_assert(exact_keys_scan(&r, &c->in, (attest_row){ b, h, i }, 1));
    const long bits = exact_row_bits(&r);
    for (int64_t e = 0; e <= row->e; e++) {
        mpq_srcptr x = e < row->e ? row->uq[e] : row->zq;
        ck_assert_msg(mpz_sizeinbase(mpq_numref(x), 2) <= (size_t)bits &&
                          mpz_sizeinbase(mpq_denref(x), 2) <= (size_t)bits,
                      "%s b=%d h=%d i=%d: %ld bits predicted", c->line, (int)b, (int)h, (int)i, bits);
    }
}

static void check_lse(const cases_case *c, const ref_row *row, const cases_truth *t, int was_absent)
{
    if (t->empty || was_absent || c->parsed.problem.axis[ATTEST_AXIS_UPDATE].value)
        return;
    ck_assert_msg(!row->lse_open && row->lse_absent == (mpq_sgn(t->z) <= 0), "%s: lse open %d absent %d", c->line,
                  row->lse_open, row->lse_absent);
}

static void check_row(tally *count, const cases_case *c, int64_t b, int64_t h, int64_t i)
{
    attest_error err;
    ref_row row;
    cases_truth t;
    cases_truth_open(&t, c, b, h, i);
    const int serves = ref_exact_serves(&c->in, (attest_row){ b, h, i });
    ck_assert_msg(serves == t.rational, "%s: serves %d, rational %d", c->line, serves, t.rational);
    ref_row_init(&row);
    ck_assert_msg(ref_ball_row(&row, &c->in, (attest_row){ b, h, i }, 128, &err) == ATTEST_OK, "%s: %s", c->line,
                  err.text);
    const int was_absent = row.lse_absent && !t.empty && mpq_sgn(t.z) > 0;
    const attest_status status = ref_exact_row(&row, &c->in, (attest_row){ b, h, i }, &err);
    count->rows++;
    count->served += serves;
    count->refused += !serves;
    ck_assert_msg((status == ATTEST_OK) == serves, "%s: status %d: %s", c->line, status, err.text);
    if (serves) {
        ck_assert_msg(row.rational && row.engine == ATTEST_ENGINE_EXACT, "%s: row not marked", c->line);
        ck_assert_msg(equal(row.uq, row.zq, t.u, t.z, t.e), "%s b=%d h=%d i=%d: u or z", c->line, (int)b, (int)h,
                      (int)i);
        ref_row_reduce(&row);
        ck_assert_msg(row.illposed == !t.defined, "%s: illposed %d", c->line, row.illposed);
        for (int64_t e = 0; e < t.e; e++) {
            ck_assert_msg(!t.defined || (mpq_equal(row.oq[e], t.o[e]) && holds(row.o + e, t.o[e])), "%s: o", c->line);
            ck_assert_msg(holds(row.u + e, t.u[e]) && arb_rel_accuracy_bits(row.u + e) >= 120, "%s: u ball", c->line);
            ck_assert_msg(t.defined || !arb_is_finite(row.o + e), "%s: o of an ill-posed row", c->line);
        }
        ck_assert_msg(c->parsed.problem.axis[ATTEST_AXIS_UPDATE].value ||
                          (holds(row.z, t.z) && arb_rel_accuracy_bits(row.z) >= 120),
                      "%s: z ball", c->line);
        check_lse(c, &row, &t, was_absent);
        check_size(c, &row, b, h, i);
        for (int axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
            count->value[axis][c->parsed.problem.axis[axis].value]++;
        count->empty += t.empty;
        count->illposed += !t.defined;
        count->negative += mpq_sgn(t.z) < 0;
    }
    ref_row_clear(&row);
    cases_truth_close(&t);
}

/* Axis values that must be met: those below `values`, but not but-1. */
static const struct {
    int axis;
    uint32_t values, but;
    // clang-format off
} met[] = {
    { ATTEST_AXIS_WEIGHT, 4, ATTEST_WEIGHT_EXP + 1 }, { ATTEST_AXIS_CENTER, 4, 0 }, { ATTEST_AXIS_FILTER, 2, 0 },
    { ATTEST_AXIS_FEATURE, 3, 0 },                    { ATTEST_AXIS_MASK, 3, 0 },   { ATTEST_AXIS_WINDOW, 2, 0 },
    { ATTEST_AXIS_LENS, 2, 0 },                       { ATTEST_AXIS_DECAY, 4, 0 },  { ATTEST_AXIS_GATES, 5, 0 },
    { ATTEST_AXIS_NORM, 5, ATTEST_NORM_SINK + 1 },    { ATTEST_AXIS_UPDATE, 2, 0 }, { ATTEST_AXIS_EPS, 2, 0 },
    { ATTEST_AXIS_CLAMP, 2, 0 }, { ATTEST_AXIS_BIAS, 5, 0 }, { ATTEST_AXIS_ATTN_MASK, 5, 0 },
    { ATTEST_AXIS_ALIBI, 3, 0 }, { ATTEST_AXIS_STATE, 2, 0 },
};
// clang-format on

START_TEST(test_rows)
{
    cases_rng rng = { 11 };
    tally count = { 0 };
    for (int k = 0; k < 700; k++) {
        char line[ATTEST_LINE];
        cases_case c;
        ref_exact_cache cache;
        const cases_values *how = random_line(line, sizeof line, &rng);
        cases_open(&c, line, how, &rng);
        const attest_problem *p = &c.parsed.problem;
        ref_exact_cache_init(&cache);
        c.in.exact = k % 2 ? &cache : NULL;
        for (int64_t row = 0; row < p->b * p->hq * p->n; row += cases_between(&rng, 1, 3))
            check_row(&count, &c, row / p->n / p->hq, row / p->n % p->hq, row % p->n);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
    ck_assert_msg(count.rows > 2000 && count.served > 1500 && count.refused > 50 && count.empty > 50 &&
                      count.illposed > 10 && count.negative > 50,
                  "%d rows: %d served, %d refused, %d empty, %d ill-posed, %d with z < 0", count.rows, count.served,
                  count.refused, count.empty, count.illposed, count.negative);
    for (size_t k = 0; k < sizeof met / sizeof met[0]; k++)
        for (uint32_t value = 0; value < met[k].values; value++)
            ck_assert_msg(count.value[met[k].axis][value] >= 30 || met[k].but == value + 1, "%s: value %u met %d times",
                          attest_axes[met[k].axis].key, value, count.value[met[k].axis][value]);
}
END_TEST

/* A row of the ball engine that is wrong, or does not know the sign of z. */
START_TEST(test_against_balls)
{
    cases_rng rng = { 12 };
    cases_case c;
    attest_error err;
    ref_row row;
    arb_t lse;
    arb_init(lse);
    ref_row_init(&row);
    cases_open(&c, "variant=taylor:2 center=max n=4 m=4 d=2 e=2", &cases_plain, &rng);
    for (int wrong = 0; wrong < 4; wrong++) {
        ck_assert(ref_ball_row(&row, &c.in, (attest_row){ 0, 0, 2 }, 128, &err) == ATTEST_OK);
        arb_ptr target = wrong == 0 ? row.z : wrong == 1 ? row.u + 1 : row.o + 1;
        if (wrong < 3)
            arb_add_ui(target, target, 1, 128);
        const attest_status status = ref_exact_row(&row, &c.in, (attest_row){ 0, 0, 2 }, &err);
        ck_assert_msg(status == (wrong < 3 ? ATTEST_INTERNAL : ATTEST_OK), "wrong %d: status %d", wrong, status);
    }
    ck_assert(ref_ball_row(&row, &c.in, (attest_row){ 0, 0, 2 }, 128, &err) == ATTEST_OK);
    arb_set(lse, row.lse);
    arb_indeterminate(row.lse);
    row.lse_open = 1;
    ck_assert(ref_exact_row(&row, &c.in, (attest_row){ 0, 0, 2 }, &err) == ATTEST_OK);
    ck_assert(!row.lse_open && !row.lse_absent && arb_overlaps(lse, row.lse) && arb_rel_accuracy_bits(row.lse) > 100);
    ck_assert(ref_ball_row(&row, &c.in, (attest_row){ 0, 0, 2 }, 128, &err) == ATTEST_OK);
    row.illposed = 1; /* the ball engine could not divide */
    arb_zero(row.o);
    ck_assert(ref_exact_row(&row, &c.in, (attest_row){ 0, 0, 2 }, &err) == ATTEST_OK);
    ck_assert(!row.illposed && holds(row.o, row.oq[0]) && arb_is_finite(row.o));
    ref_row_clear(&row);
    cases_close(&c);

    ref_row_init(&row);
    cases_open(&c, "variant=taylor:1 n=1 m=1 d=1 e=1 scale=1", &cases_plain, &rng);
    cases_set(&c, ATTEST_Q, 0, 3);
    cases_set(&c, ATTEST_K, 0, -1); /* z = 1 - 3 */
    ck_assert(ref_ball_row(&row, &c.in, (attest_row){ 0, 0, 0 }, 128, &err) == ATTEST_OK);
    row.lse_absent = 0;
    row.lse_open = 1;
    ck_assert(ref_exact_row(&row, &c.in, (attest_row){ 0, 0, 0 }, &err) == ATTEST_OK);
    ck_assert(row.lse_absent && !row.lse_open && mpq_cmp_si(row.zq, -2, 1) == 0);
    ref_row_clear(&row);
    arb_clear(lse);
    cases_close(&c);
}
END_TEST

static const struct {
    const char *what, *line;
    int role, index; /* set this element ... */
    double value;    /* ... to this */
    int64_t i;
    int serves;
} service[] = {
    { "Taylor", "variant=taylor:3 n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 1 },
    { "exp", "variant=softmax n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "sink", "variant=taylor:3 norm=sink n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "cap", "variant=taylor:3 cap=3 n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "unit feature", "variant=cos-taylor:3 n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "infinite key", "variant=taylor:3 mask=causal n=3 m=3 d=2 e=1", ATTEST_K, 4, INFINITY, 2, 0 },
    { "invisible infinite key", "variant=taylor:3 mask=causal n=3 m=3 d=2 e=1", ATTEST_K, 4, INFINITY, 1, 1 },
    { "NaN value", "variant=taylor:3 mask=causal n=3 m=3 d=2 e=1", ATTEST_V, 1, NAN, 1, 0 },
    { "invisible NaN value", "variant=taylor:3 mask=causal n=3 m=3 d=2 e=1", ATTEST_V, 1, NAN, 0, 1 },
    { "infinite query", "variant=taylor:3 n=3 m=3 d=2 e=1", ATTEST_Q, 4, -INFINITY, 2, 0 },
    { "another row's query", "variant=taylor:3 n=3 m=3 d=2 e=1", ATTEST_Q, 2, NAN, 2, 1 },
    { "empty row with NaN query", "variant=taylor:3 mask=causal-br n=3 m=1 d=2 e=1", ATTEST_Q, 0, NAN, 0, 1 },
    { "gates over heads", "variant=sla n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "efla", "variant=efla n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "rope", "variant=linear rope=100 n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "angles", "variant=cosformer n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "root norm", "variant=linear norm=l2 n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "exp with decay", "variant=fox n=3 m=3 d=2 e=1", ATTEST_Q, 0, 1, 2, 0 },
    { "gate of a visible key", "variant=linear gates=in mask=causal n=3 m=3 d=2 e=1", ATTEST_GIN, 1, NAN, 1, 0 },
    { "gate of an invisible key", "variant=linear gates=in mask=causal n=3 m=3 d=2 e=1", ATTEST_GIN, 2, NAN, 1, 1 },
    { "gate of the row", "variant=linear gates=out n=3 m=3 d=2 e=1", ATTEST_GOUT, 1, INFINITY, 1, 0 },
    { "gate of another row", "variant=linear gates=out n=3 m=3 d=2 e=1", ATTEST_GOUT, 1, INFINITY, 2, 1 },
    { "decay of the first key", "variant=simple-gla n=3 m=3 d=2 e=1", ATTEST_DECAY, 0, NAN, 2, 1 },
    { "the same with a state", "variant=simple-gla state=draw n=3 m=3 d=2 e=1", ATTEST_DECAY, 0, NAN, 2, 0 },
    { "decay of a later key", "variant=gla n=3 m=3 d=2 e=1", ATTEST_DECAY, 3, NAN, 2, 0 },
    { "decay behind the query", "variant=gla n=3 m=3 d=2 e=1", ATTEST_DECAY, 4, NAN, 1, 1 },
    { "slope", "variant=linear alibi=draw n=3 m=3 d=2 e=1", ATTEST_SLOPE, 0, INFINITY, 1, 0 },
    { "bias of a visible key", "variant=linear bias=full mask=causal n=3 m=3 d=2 e=1", ATTEST_BIAS, 4, INFINITY, 1, 0 },
    { "bias of an invisible key", "variant=linear bias=full mask=causal n=3 m=3 d=2 e=1", ATTEST_BIAS, 5, NAN, 1, 1 },
    { "b of the delta rule", "variant=deltanet n=3 m=3 d=2 e=1", ATTEST_BETA, 1, INFINITY, 1, 0 },
    { "b behind the query", "variant=deltanet n=3 m=3 d=2 e=1", ATTEST_BETA, 2, INFINITY, 1, 1 },
    { "2^13 products of the delta rule", "variant=deltanet n=8 m=8 d=64 e=64", ATTEST_Q, 0, 1, 1, 1 },
    { "more of them", "variant=deltanet n=8 m=8 d=64 e=64", ATTEST_Q, 0, 1, 2, 0 },
    { "a decay of 2^-1000, 30 tokens", "variant=retnet acc=f64 n=31 m=31 d=2 e=1", ATTEST_GAMMA, 0, 0x1p-1000, 30, 1 },
    { "a decay of 2^-1000, 70 tokens", "variant=retnet acc=f64 n=71 m=71 d=2 e=1", ATTEST_GAMMA, 0, 0x1p-1000, 70, 0 },
    { "2^-1000 in few channels", "variant=retnet acc=f64 n=61 m=61 d=8 e=8", ATTEST_GAMMA, 0, 0x1p-1000, 60, 1 },
    { "and in many", "variant=retnet acc=f64 n=61 m=61 d=64 e=64", ATTEST_GAMMA, 0, 0x1p-1000, 60, 0 },
    { "a rate of 2^-1000, 30 tokens", "variant=deltanet acc=f64 n=31 m=31 d=2 e=1", ATTEST_BETA, 0, 0x1p-1000, 30, 1 },
    { "a rate of 2^-1000, 70 tokens", "variant=deltanet acc=f64 n=71 m=71 d=2 e=1", ATTEST_BETA, 0, 0x1p-1000, 70, 0 },
    { "wide exponents, low order", "variant=taylor:8 in=f64 n=3 m=3 d=2 e=1", ATTEST_K, 4, 0x1p-1000, 2, 1 },
    { "wide exponents, order 64", "variant=taylor:64 in=f64 n=3 m=3 d=2 e=1", ATTEST_K, 4, 0x1p-1060, 2, 0 },
    { "wide upwards, order 64", "variant=taylor:64 in=f64 n=3 m=3 d=2 e=1", ATTEST_K, 4, 0x1p1020, 2, 0 },
};

START_TEST(test_serves)
{
    cases_rng rng = { 13 };
    for (size_t k = 0; k < sizeof service / sizeof service[0]; k++) {
        cases_case c;
        cases_open(&c, service[k].line, &cases_plain, &rng);
        cases_set(&c, (attest_role)service[k].role, service[k].index, service[k].value);
        ref_exact_cache cache;
        ref_exact_cache_init(&cache);
        for (int cached = 0; cached < 2; cached++) {
            c.in.exact = cached ? &cache : NULL;
            const int serves = ref_exact_serves(&c.in, (attest_row){ 0, 0, service[k].i });
            ck_assert_msg(serves == service[k].serves, "%s: cache %d: %d", service[k].what, cached, serves);
        }
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
}
END_TEST

/* Given states have exponents of their own. */
START_TEST(test_serves_given_states)
{
    static const struct {
        double q, k, h0;
        int serves;
    } rows[] = { { 0.5, 2, 1, 1 }, { 0x1p-1050, 0x1p1000, 1, 0 }, { 0x1p-1000, 0x1p1000, 1, 1 }, { 0.5, 2, NAN, 0 } };
    cases_rng rng = { 19 };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        cases_case c;
        cases_open(&c, "variant=term:64 in=f64 n=1 m=1 d=1 e=1 scale=1 state=draw", &cases_plain, &rng);
        cases_set(&c, ATTEST_Q, 0, rows[k].q);
        cases_set(&c, ATTEST_K, 0, rows[k].k);
        attest_tensor *h0 = attest_bundle_get(c.bundle, (attest_tensor_id){ ATTEST_KIND_H0, 64 });
        attest_store_bits(h0, 0, attest_from_f64(h0->dtype, rows[k].h0));
        ck_assert_msg(ref_exact_serves(&c.in, (attest_row){ 0, 0, 0 }) == rows[k].serves, "row %d", (int)k);
        cases_close(&c);
    }
}
END_TEST

/* ---- forms (derivations R-KRONECKER, R-PACKED, R-RECURRENT, R-CHUNK; all of them: test_identities.c) --------- */

static void random_vector(mpz_t *x, int64_t d, cases_rng *rng)
{
    for (int64_t c = 0; c < d; c++)
        mpz_set_si(x[c], cases_between(rng, -1000, 1000) * (1l << cases_between(rng, 0, 40)));
}

/* (a.b)^n = sum over the state's rows of multiplicity * monomial(a) * monomial(b). */
static int kronecker_holds(const exact_tree *t, int n, mpz_t *a, mpz_t *b)
{
    mpz_t power, sum, x;
    mpz_inits(power, sum, x, NULL);
    for (int64_t c = 0; c < t->dim; c++)
        mpz_addmul(power, a[c], b[c]);
    mpz_pow_ui(power, power, (unsigned long)n);
    mpz_t **ma = exact_monomials_new(t), **mb = exact_monomials_new(t);
    ck_assert(ma && mb);
    exact_monomials_of(ma, t, a, n);
    exact_monomials_of(mb, t, b, n);
    for (int64_t r = 0; r < t->level[n].rows; r++) {
        mpz_mul(x, ma[n][r], t->level[n].multiplicity[r]);
        mpz_addmul(sum, x, mb[n][r]);
    }
    const int same = mpz_cmp(sum, power) == 0;
    exact_monomials_free(mb, t);
    exact_monomials_free(ma, t);
    mpz_clears(power, sum, x, NULL);
    return same;
}

START_TEST(test_kronecker)
{
    cases_rng rng = { 14 };
    int cases = 0;
    for (int n = 0; n < ORDERS; n++) {
        for (int k = 0; k < PER_ORDER; k++) {
            const int64_t d = cases_between(&rng, 1, 4);
            mpz_t *a = exact_integers_new(d), *b = exact_integers_new(d);
            random_vector(a, d, &rng);
            random_vector(b, d, &rng);
            for (int packed = 0; packed < 2; packed++) {
                exact_tree t;
                attest_error err;
                ck_assert(exact_tree_new(&t, d, n, packed, &err) == ATTEST_OK);
                ck_assert_int_eq(t.level[n].rows, attest_state_rows(d, n, packed));
                ck_assert_msg(kronecker_holds(&t, n, a, b), "order %d, d=%d, packed %d", n, (int)d, packed);
                cases++;
                exact_tree_free(&t);
            }
            exact_integers_free(a, d);
            exact_integers_free(b, d);
        }
    }
    ck_assert_int_eq(cases, 2 * ORDERS * PER_ORDER);
}
END_TEST

/* Wider values, more keys than tests/reference/identities/test_identities.c has; both layouts, a random chunk size. */
START_TEST(test_recurrent_parallel_chunked)
{
    static const char *const masks[] = { "full", "causal", "causal-br" };
    cases_rng rng = { 15 };
    int cases = 0;
    for (int n = 0; n < ORDERS; n++) {
        for (int k = 0; k < PER_ORDER; k++) {
            cases_case c;
            attest_error err;
            cases_open_recurrent(&c, n, masks[k % 3], 0, &rng);
            const attest_problem *p = &c.parsed.problem;
            const int64_t h = cases_between(&rng, 0, 1), rows = p->n * p->e;
            mpq_t *u[2] = { cases_rationals(rows), cases_rationals(rows) };
            mpq_t *z[2] = { cases_rationals(p->n), cases_rationals(p->n) };
            ck_assert_msg(ref_exact_rows(u[0], z[0], NULL, NULL, &c.in, 0, h, &err) == ATTEST_OK, "%s", err.text);
            for (int form = 0; form < 4; form++) {
                const ref_exact_form_options options = { .kind = form / 2 ? REF_FORM_CHUNK : REF_FORM_RECURRENT,
                                                         .packed = form % 2,
                                                         .size = cases_between(&rng, 1, 6) };
                ck_assert(ref_exact_form(u[1], z[1], &c.in, 0, h, &options, &err) == ATTEST_OK);
                for (int64_t i = 0; i < p->n; i++)
                    ck_assert_msg(equal(u[0] + i * p->e, z[0][i], u[1] + i * p->e, z[1][i], p->e),
                                  "%s i=%d form %d, size %d", c.line, (int)i, form, (int)options.size);
            }
            cases++;
            for (int side = 0; side < 2; side++) {
                cases_rationals_free(u[side], rows);
                cases_rationals_free(z[side], p->n);
            }
            cases_close(&c);
        }
    }
    ck_assert_int_eq(cases, ORDERS * PER_ORDER);
}
END_TEST

START_TEST(test_forms_refuse)
{
    static const struct {
        const char *line;
        ref_exact_form_options options;
        attest_status status;
    } rows[] = {
        { "variant=softmax", { .kind = REF_FORM_RECURRENT }, ATTEST_UNSUPPORTED },
        { "variant=filtered:1", { .kind = REF_FORM_RECURRENT }, ATTEST_UNSUPPORTED },
        { "variant=taylor:2 window=2", { .kind = REF_FORM_CHUNK, .size = 2 }, ATTEST_UNSUPPORTED },
        { "variant=linear-elu", { .kind = REF_FORM_RECURRENT }, ATTEST_UNSUPPORTED }, /* e^x */
        { "variant=sla", { .kind = REF_FORM_RECURRENT }, ATTEST_UNSUPPORTED },
        { "variant=efla", { .kind = REF_FORM_CHUNK, .size = 2 }, ATTEST_UNSUPPORTED },
        { "variant=deltanet", { .kind = REF_FORM_SPLIT, .size = 1 }, ATTEST_UNSUPPORTED }, /* parts do not add */
        { "variant=deltanet", { .kind = REF_FORM_CHUNK, .size = 0 }, ATTEST_BAD_INPUT },
        { "variant=taylor:2", { .kind = REF_FORM_CHUNK, .size = 0 }, ATTEST_BAD_INPUT },
        { "variant=taylor:2", { .kind = REF_FORM_SPLIT, .size = -1 }, ATTEST_BAD_INPUT },
        { "variant=taylor:2", { .kind = REF_FORM_CHUNK, .size = 1 }, ATTEST_OK },
        { "variant=retnet", { .kind = REF_FORM_SPLIT, .size = 0 }, ATTEST_OK },
    };
    cases_rng rng = { 17 };
    mpq_t *u = cases_rationals(6), *z = cases_rationals(3);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        char line[ATTEST_LINE];
        cases_case c;
        attest_error err;
        snprintf(line, sizeof line, "%s n=3 m=3 d=8 e=2", rows[k].line);
        cases_open(&c, line, &cases_plain, &rng);
        const attest_status status = ref_exact_form(u, z, &c.in, 0, 0, &rows[k].options, &err);
        ck_assert_msg(status == rows[k].status, "%s: %d: %s", line, status, err.text);
        cases_close(&c);
    }
    cases_rationals_free(u, 6);
    cases_rationals_free(z, 3);
}
END_TEST

Suite *suite_exact(void)
{
    Suite *s = suite_create("exact");
    TCase *t = tcase_create("exact");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, test_rows);
    tcase_add_test(t, test_against_balls);
    tcase_add_test(t, test_serves);
    tcase_add_test(t, test_serves_given_states);
    tcase_add_test(t, test_kronecker);
    tcase_add_test(t, test_recurrent_parallel_chunked);
    tcase_add_test(t, test_forms_refuse);
    suite_add_tcase(s, t);
    return s;
}

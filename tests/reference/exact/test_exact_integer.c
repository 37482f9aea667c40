/* test_exact_integer.c - integers of fixed size give the rationals of exact.c, number for number, and round them right;
 * what they do not serve goes the other way and comes to the same. */
#include "tests/reference/exact/exact_cases.h"

#include "reference/exact/exact_integer.h"

Suite *suite_exact_integer(void);

#define COUNT(array) ((long)(sizeof array / sizeof array[0]))
#define ONE_OF(array) array[cases_between(rng, 0, COUNT(array) - 1)]

/* Full mantissas, narrow ones, exponents that sometimes fit and sometimes do not, and ties between scores. */
static const cases_values full = { .bits = 24, .spread = 36, .nonnegative = 0 };
static const cases_values hostile = { .bits = 24, .spread = 70, .nonnegative = 0 };
static const cases_values doubles = { .bits = 40, .spread = 53, .nonnegative = 0 }; /* 61 bits in all */
static const cases_values coarse = { .bits = 1, .spread = 0, .nonnegative = 0 };

static void draw_line(char *line, size_t len, cases_rng *rng)
{
    static const char *const weights[] = { "taylor", "taylor", "term", "power" };
    static const char *const features[] = { "identity", "identity", "relu", "elu1" };
    static const char *const masks[] = { "full",          "causal",         "causal-br", "causal-br lens=draw",
                                         "full window=3", "causal window=2" };
    static const char *const centers[] = { "zero", "zero", "max", "min", "mid" };
    static const char *const dtypes[] = { "f32", "bf16", "f16", "f64" };
    static const char *const norms[] = { "sum", "sum", "sum", "none", "length", "floor:0.5", "sum eps=0.25" };
    static const char *const scales[] = { "", "", " scale=1", " scale=-0.75", " scale=0", " scale=3e5", " scale=-0.1" };
    const long hkv = cases_between(rng, 1, 2), n = cases_between(rng, 1, 9);
    const char *weight = ONE_OF(weights), *center = weight[0] == 't' && weight[1] == 'a' ? ONE_OF(centers) : "zero";
    const long order = cases_between(rng, 0, cases_draw(rng) % 4 ? 8 : 20);
    snprintf(line, len,
             "variant=linear weight=%s:%ld feature=%s center=%s mask=%s in=%s norm=%s b=2 hkv=%ld hq=%ld "
             "n=%ld m=%ld d=%ld e=%ld%s",
             weight, order, ONE_OF(features), center, ONE_OF(masks), ONE_OF(dtypes), ONE_OF(norms), hkv,
             hkv * cases_between(rng, 1, 2), n, cases_draw(rng) % 2 ? n : cases_between(rng, 1, 9),
             cases_between(rng, 1, 9), cases_between(rng, 1, 4), ONE_OF(scales));
}

static const cases_values *random_line(char *line, size_t len, cases_rng *rng)
{
    static const cases_values *const values[] = { &full,   &full,           &hostile,    &doubles,
                                                  &coarse, &cases_positive, &cases_plain };
    attest_case parsed;
    attest_error err;
    do
        draw_line(line, len, rng);
    while (attest_case_parse(&parsed, line, NULL, NULL, &err) != ATTEST_OK);
    return ONE_OF(values);
}

/* Most inputs as large as their mantissa lets them be. */
static void enlarge(cases_case *c, const cases_values *how, cases_rng *rng)
{
    static const attest_role roles[] = { ATTEST_Q, ATTEST_K, ATTEST_V };
    if (how->nonnegative || cases_draw(rng) % 4)
        return;
    for (int k = 0; k < COUNT(roles); k++) {
        attest_tensor *t = attest_bundle_role(c->bundle, roles[k]);
        for (int64_t at = 0; at < attest_tensor_count(t); at++)
            if (cases_draw(rng) % 8)
                cases_set(c, roles[k], at, cases_draw(rng) % 8 ? 0xffffffp-16 : -0xffffffp-16);
    }
}

typedef struct tally {
    int rows, fast, other, negative_z, zero_z, negative_score;
    int order[EXACT_ORDER + 2], dtype[4], center[4], feature[8], weight[8], norm[16];
} tally;

static void note(tally *count, const cases_case *c, const exact_keys *r, const mpq_t z)
{
    const attest_problem *p = &c->parsed.problem;
    count->fast++;
    count->negative_z += mpq_sgn(z) < 0;
    count->zero_z += mpq_sgn(z) == 0 && r->last > r->first;
    for (int64_t j = 0; j < r->last - r->first; j++)
        count->negative_score += r->head->score[j] < 0;
    count->order[p->axis[ATTEST_AXIS_WEIGHT].order]++;
    count->dtype[p->in]++;
    count->center[p->axis[ATTEST_AXIS_CENTER].value]++;
    count->feature[p->axis[ATTEST_AXIS_FEATURE].value]++;
    count->weight[p->axis[ATTEST_AXIS_WEIGHT].value]++;
    count->norm[p->axis[ATTEST_AXIS_NORM].value]++;
}

/* What one head gives: u, z, o as fractions, o rounded to each format. */
typedef struct side {
    attest_status status;
    mpq_t *u, *z, *o;
    int *defined;
    uint64_t *bits[4];
} side;

static void side_open(side *s, const cases_case *c, int64_t b, int64_t h)
{
    const attest_problem *p = &c->parsed.problem;
    attest_error err;
    s->u = cases_rationals(p->n * p->e);
    s->o = cases_rationals(p->n * p->e);
    s->z = cases_rationals(p->n);
    s->defined = calloc((size_t)p->n, sizeof *s->defined);
    s->status = ref_exact_rows(s->u, s->z, s->o, s->defined, &c->in, b, h, &err);
    for (uint32_t dtype = 0; dtype < 4; dtype++) {
        s->bits[dtype] = malloc((size_t)(p->n * p->e) * sizeof *s->bits[dtype]);
        ck_assert_int_eq(ref_exact_rounded(s->bits[dtype], dtype, &c->in, b, h, &err), s->status);
    }
}

static void side_close(side *s, const cases_case *c)
{
    const attest_problem *p = &c->parsed.problem;
    cases_rationals_free(s->u, p->n * p->e);
    cases_rationals_free(s->o, p->n * p->e);
    cases_rationals_free(s->z, p->n);
    free(s->defined);
    for (int dtype = 0; dtype < 4; dtype++)
        free(s->bits[dtype]);
}

static void check_rounded(const cases_case *c, const side *s, const side *slow, int64_t i, int64_t at)
{
    for (uint32_t dtype = 0; dtype < 4; dtype++) {
        const uint64_t want = slow->defined[i] ? ref_round_rational(slow->o[at], dtype)
                                               : attest_from_f64(dtype, (double)NAN);
        ck_assert_msg(s->bits[dtype][at] == want, "%s: i=%d: %s %llx, not %llx", c->line, (int)i,
                      attest_dtype_name(dtype), (unsigned long long)s->bits[dtype][at], (unsigned long long)want);
    }
}

/* Head (b,h) with `cache` and without one. */
static void check_head(tally *count, cases_case *c, ref_exact_cache *cache, int64_t b, int64_t h)
{
    const attest_problem *p = &c->parsed.problem;
    side slow, fast;
    exact_keys r;
    c->in.exact = NULL;
    side_open(&slow, c, b, h);
    c->in.exact = cache;
    side_open(&fast, c, b, h);
    ck_assert_msg(slow.status == fast.status, "%s: status", c->line);
    for (int64_t i = 0; i < p->n && slow.status == ATTEST_OK; i++) {
        count->rows++;
        ck_assert_msg(mpq_equal(slow.z[i], fast.z[i]), "%s: b=%d h=%d i=%d: z", c->line, (int)b, (int)h, (int)i);
        ck_assert_msg(slow.defined[i] == fast.defined[i], "%s: i=%d: defined", c->line, (int)i);
        for (int64_t at = i * p->e; at < (i + 1) * p->e; at++) {
            ck_assert_msg(mpq_equal(slow.u[at], fast.u[at]), "%s: b=%d h=%d i=%d: u", c->line, (int)b, (int)h, (int)i);
            ck_assert_msg(!slow.defined[i] || mpq_equal(slow.o[at], fast.o[at]), "%s: i=%d: o", c->line, (int)i);
            check_rounded(c, &slow, &slow, i, at);
            check_rounded(c, &fast, &slow, i, at);
        }
        if (exact_integer_keys(&r, &c->in, (attest_row){ b, h, i })) {
            exact_integer_scale scale;
            exact_integer_sums(&scale, &r);
            note(count, c, &r, slow.z[i]);
        } else {
            count->other++;
        }
    }
    side_close(&fast, c);
    side_close(&slow, c);
}

START_TEST(integers_equal_rationals)
{
    cases_rng rng = { 31 };
    tally count = { 0 };
    for (int k = 0; k < 500; k++) {
        char line[ATTEST_LINE];
        cases_case c;
        ref_exact_cache cache;
        const cases_values *how = random_line(line, sizeof line, &rng);
        cases_open(&c, line, how, &rng);
        enlarge(&c, how, &rng);
        ref_exact_cache_init(&cache);
        const attest_problem *p = &c.parsed.problem;
        for (int64_t head = p->b * p->hq; head-- > 0;)
            check_head(&count, &c, &cache, head / p->hq, head % p->hq);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
    ck_assert_msg(count.fast > 4000 && count.other > 500 && count.negative_z > 200 && count.zero_z > 30 &&
                      count.negative_score > 2000,
                  "%d rows: %d by integers, %d others; z < 0 %d, z = 0 %d; %d scores < 0", count.rows, count.fast,
                  count.other, count.negative_z, count.zero_z, count.negative_score);
    for (int order = 0; order <= 8; order++)
        ck_assert_msg(count.order[order] > 40, "order %d: %d", order, count.order[order]);
    for (int k = 0; k < 4; k++)
        ck_assert_msg(count.dtype[k] > 200 && count.center[k] > 80, "dtype or center %d: %d, %d", k, count.dtype[k],
                      count.center[k]);
    ck_assert_msg(count.order[EXACT_ORDER] > 0 && count.order[EXACT_ORDER + 1] == 0, "order %d: %d", EXACT_ORDER,
                  count.order[EXACT_ORDER]);
    ck_assert(count.feature[ATTEST_FEATURE_RELU] > 100 && count.feature[ATTEST_FEATURE_ELU1] > 20);
    ck_assert(count.weight[ATTEST_WEIGHT_TERM] > 100 && count.weight[ATTEST_WEIGHT_POWER] > 100);
    ck_assert(count.norm[ATTEST_NORM_NONE] > 100 && count.norm[ATTEST_NORM_FLOOR] > 100);
}
END_TEST

/* q, k, v, scale as large as their bits allow, so that every sum comes to within a bit or two of what is predicted, at
 * all distances from the ends of limbs. */
START_TEST(sizes_are_reached)
{
    static const char *const weights[] = { "taylor", "taylor", "term" };
    static const char *const centers[] = { "zero", "max", "min", "mid" };
    cases_rng rng = { 37 };
    tally count = { 0 };
    for (int k = 0; k < 4000; k++) {
        char line[ATTEST_LINE];
        cases_case c;
        ref_exact_cache cache;
        const long weight = cases_between(&rng, 0, 2), d = 1l << cases_between(&rng, 0, 3);
        const long q_bits = cases_between(&rng, 1, 53), k_bits = cases_between(&rng, 1, 53);
        const long v_bits = cases_between(&rng, 1, 53), f_bits = cases_between(&rng, 1, 53);
        const double scale = ldexp((double)((1l << f_bits) - 1), /* scores about 1, or whole */
                                   cases_draw(&rng) % 2 ? (int)-(q_bits + k_bits + f_bits + exact_log2_up(d)) : 0);
        const double v = (double)((1l << v_bits) - 1);
        snprintf(line, sizeof line,
                 "variant=linear norm=sum weight=%s:%ld center=%s in=f64 n=1 m=%ld d=%ld e=2 scale=%.17g",
                 weights[weight], cases_between(&rng, 1, 5), weight < 2 ? centers[cases_between(&rng, 0, 3)] : "zero",
                 1l << cases_between(&rng, 0, 3), d, scale);
        cases_open(&c, line, &cases_plain, &rng);
        const int turned = cases_draw(&rng) % 3 != 0;
        for (int64_t a = 0; a < d; a++)
            cases_set(&c, ATTEST_Q, a, (double)((1l << q_bits) - 1));
        for (int64_t j = 0; j < c.parsed.problem.m; j++) {
            const int minus = turned && cases_draw(&rng) % 2;
            for (int64_t a = 0; a < d; a++)
                cases_set(&c, ATTEST_K, j * d + a, (double)((1l << k_bits) - 1) * (minus ? -1 : 1));
            cases_set(&c, ATTEST_V, 2 * j, v);
            cases_set(&c, ATTEST_V, 2 * j + 1, minus ? v : -v);
        }
        ref_exact_cache_init(&cache);
        check_head(&count, &c, &cache, 0, 0);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
    ck_assert_msg(count.fast == 4000, "%d by integers", count.fast);
}
END_TEST

/* Queries and keys of 62 bits: scores up to 126 bits before the scale are served. */
START_TEST(scores_of_126_bits)
{
    static const struct {
        const char *center;
        int64_t d;
        int fast;
    } rows[] = { { "zero", 2, 1 }, { "max", 2, 1 },  { "mid", 2, 0 }, { "zero", 4, 1 },
                 { "max", 4, 0 },  { "zero", 5, 0 }, { "zero", 9, 0 } };
    for (long k = 0; k < COUNT(rows); k++) {
        char line[ATTEST_LINE];
        cases_rng rng = { 59 };
        cases_case c;
        ref_exact_cache cache;
        tally count = { 0 };
        snprintf(line, sizeof line, "variant=taylor:3 center=%s in=f64 n=2 m=2 d=%d e=1 scale=0x1.fffffffffffffp-128",
                 rows[k].center, (int)rows[k].d);
        cases_open(&c, line, &cases_plain, &rng);
        for (int64_t at = 0; at < 2 * rows[k].d; at++) {
            const double x = at % rows[k].d == 0 ? 1 : 0x1p62 - 0x1p9;
            cases_set(&c, ATTEST_Q, at, x);
            cases_set(&c, ATTEST_K, at, at < rows[k].d ? x : -x);
        }
        ref_exact_cache_init(&cache);
        check_head(&count, &c, &cache, 0, 0);
        ck_assert_msg(count.fast == 2 * rows[k].fast, "%s: %d rows by integers", line, count.fast);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
}
END_TEST

/* ---- what goes the other way ------------------------------------------------------------------------------------- */
static const struct {
    const char *what, *line;
    int role, index;
    double value;
    int fast, serves; /* by integers; by the engine */
} ways[] = {
    { "plain", "variant=taylor:4 scale=1", ATTEST_V, 0, 1, 1, 1 },
    { "order 18", "variant=taylor:18 scale=1", ATTEST_V, 0, 1, 1, 1 },
    { "order 19", "variant=taylor:19 scale=1", ATTEST_V, 0, 1, 0, 1 },
    { "an infinite key nobody sees", "variant=taylor:4 mask=causal", ATTEST_K, 11, INFINITY, 0, 1 },
    { "a NaN value nobody sees", "variant=taylor:4 mask=causal", ATTEST_V, 5, NAN, 0, 1 },
    { "a key of 63 bits", "variant=taylor:2 scale=1", ATTEST_K, 3, 0x1p53, 0, 1 },
    { "a value of 63 bits", "variant=taylor:2 scale=1", ATTEST_V, 3, 0x1p53, 0, 1 },
    { "a value of 62 bits", "variant=taylor:2 scale=1", ATTEST_V, 3, 0x1p52, 1, 1 },
    { "a key of 62 bits", "variant=taylor:2 scale=1", ATTEST_K, 3, 0x1p52, 1, 1 },
    { "a query of 63 bits", "variant=taylor:2 scale=1", ATTEST_Q, 2, 0x1p53, 0, 1 },
    { "whole scores, coarser than 1", "variant=taylor:2 scale=1180591620717411303424", ATTEST_V, 0, 1, 1, 1 },
    { "by more than 63 bits", "variant=taylor:2 scale=1237940039285380274899124224", ATTEST_V, 0, 1, 0, 1 },
    { "softmax", "variant=softmax", ATTEST_V, 0, 1, 0, 0 },
    { "decay", "variant=retnet", ATTEST_V, 0, 1, 0, 1 },
    { "gates", "variant=taylor:2 gates=out", ATTEST_V, 0, 1, 0, 1 },
    { "gates on values", "variant=taylor:2 gates=in", ATTEST_V, 0, 1, 0, 1 },
    { "a filter", "variant=taylor:2 filter=1", ATTEST_V, 0, 1, 0, 1 },
    { "clamp", "variant=taylor:2 clamp=1", ATTEST_V, 0, 1, 0, 1 },
    { "alibi", "variant=taylor:2 alibi=draw", ATTEST_V, 0, 1, 0, 1 },
    { "slopes 2^-8, 2^-4, 2^-2", "variant=taylor:2 alibi=usual hq=3", ATTEST_V, 0, 1, 0, 1 },
    { "a slope 2^-(1/2)", "variant=taylor:2 alibi=usual hq=16", ATTEST_V, 0, 1, 0, 0 },
    { "a state", "variant=taylor:2 state=draw", ATTEST_V, 0, 1, 0, 1 },
    { "the delta rule", "variant=deltanet", ATTEST_V, 0, 1, 0, 1 },
    { "rope", "variant=linear rope=100", ATTEST_V, 0, 1, 0, 0 },
    { "cap", "variant=taylor:2 cap=1", ATTEST_V, 0, 1, 0, 0 },
    { "elu1 below 0", "variant=linear feature=elu1", ATTEST_K, 0, -1, 0, 0 },
    { "norm by a root", "variant=linear norm=l2", ATTEST_V, 0, 1, 1, 0 },
};

START_TEST(the_rest_goes_the_other_way)
{
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        char line[ATTEST_LINE];
        cases_rng rng = { 41 };
        cases_case c;
        ref_exact_cache cache;
        exact_keys r;
        snprintf(line, sizeof line, "%s n=6 m=6 d=2 e=1 in=f64", ways[k].line);
        cases_open(&c, line, &cases_positive, &rng);
        for (int64_t at = 0; at < 12; at++) { /* whole numbers over 2^9: every span is known */
            cases_set(&c, ATTEST_Q, at, 0x1p-9);
            cases_set(&c, ATTEST_K, at, 0x1p-9);
            cases_set(&c, ATTEST_V, at / 2, 0x1p-9);
        }
        cases_set(&c, (attest_role)ways[k].role, ways[k].index, ways[k].value);
        ref_exact_cache_init(&cache);
        const int without = ref_exact_serves(&c.in, (attest_row){ 0, 0, 1 });
        ck_assert_msg(!exact_integer_keys(&r, &c.in, (attest_row){ 0, 0, 1 }), "%s: no cache", ways[k].what);
        c.in.exact = &cache;
        const int fast = exact_integer_keys(&r, &c.in, (attest_row){ 0, 0, 1 }),
                  serves = ref_exact_serves(&c.in, (attest_row){ 0, 0, 1 });
        ck_assert_msg(fast == ways[k].fast && serves == ways[k].serves && without == serves,
                      "%s: fast %d, serves %d, %d", ways[k].what, fast, serves, without);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
}
END_TEST

/* ---- rounding ---------------------------------------------------------------------------------------------------- */
/* weight=taylor:0: o is the mean of two values.  term:1 with q k = -1: both sums change their sign, o does not. */
static const struct {
    double one, two;
    uint32_t dtype;
    double nearest;
} ties[] = {
    { 1, 1 + 0x1p-23, ATTEST_F32, 1 },
    { 1 + 0x1p-23, 1 + 0x1p-22, ATTEST_F32, 1 + 0x1p-22 },
    { -1, -1 - 0x1p-23, ATTEST_F32, -1 },
    { -1 - 0x1p-23, -1 - 0x1p-22, ATTEST_F32, -1 - 0x1p-22 },
    { 1, 1 + 0x1p-7, ATTEST_BF16, 1 },
    { 1 + 0x1p-23, 1 + 0x1p-7, ATTEST_BF16, 1 + 0x1p-7 },
    { 1 - 0x1p-24, 1 + 0x1p-7, ATTEST_BF16, 1 },
    { 1, 1 + 0x1p-10, ATTEST_F16, 1 },
    { 1 + 0x1p-10, 1 + 0x1p-9, ATTEST_F16, 1 + 0x1p-9 },
    { 1, 1 + 0x1p-23, ATTEST_F64, 1 + 0x1p-24 },
    { 0x1p-149, 0, ATTEST_F32, 0 },
    { 0x1p-149, 0x1p-148, ATTEST_F32, 0x1p-148 },
    { 0x1.fffffep127, 0x1.fffffep127, ATTEST_F32, 0x1.fffffep127 },
    { 0x1.fffffep127, 0x1.fffffep127, ATTEST_BF16, INFINITY },
    { 3, -3, ATTEST_F64, 0 },
};

START_TEST(ties_round_to_even)
{
    static const char *const lines[] = { "weight=taylor:0", "weight=term:1" };
    for (int64_t k = 0; k < 2 * COUNT(ties); k++) {
        char line[ATTEST_LINE];
        cases_rng rng = { 43 };
        cases_case c;
        ref_exact_cache cache;
        exact_keys r;
        attest_error err;
        uint64_t bits[2];
        snprintf(line, sizeof line, "variant=linear %s norm=sum n=2 m=2 d=1 e=1 scale=1", lines[k % 2]);
        cases_open(&c, line, &cases_plain, &rng);
        for (int64_t at = 0; at < 2; at++) {
            cases_set(&c, ATTEST_Q, at, 1);
            cases_set(&c, ATTEST_K, at, -1);
            cases_set(&c, ATTEST_V, at, at ? ties[k / 2].two : ties[k / 2].one);
        }
        ref_exact_cache_init(&cache);
        c.in.exact = &cache;
        const int fits = fabs(ties[k / 2].one) > 0.5 && fabs(ties[k / 2].one) < 4;
        ck_assert_msg(exact_integer_keys(&r, &c.in, (attest_row){ 0, 0, 1 }) == fits, "tie %d: by integers",
                      (int)k / 2);
        ck_assert(ref_exact_rounded(bits, ties[k / 2].dtype, &c.in, 0, 0, &err) == ATTEST_OK);
        ck_assert_msg(bits[1] == attest_from_f64(ties[k / 2].dtype, ties[k / 2].nearest), "tie %d, %s: %llx",
                      (int)k / 2, lines[k % 2], (unsigned long long)bits[1]);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
}
END_TEST

/* u/z = 1 + 2^-24 and 2^-80 more, or less: weights are squares of 1 and 2^-40. */
START_TEST(far_digits_decide)
{
    static const double other[] = { 2, 1 + 0x1p-24, 0.5 }, nearest[] = { 1 + 0x1p-23, 1, 1 };
    for (int k = 0; k < 6; k++) {
        const double sign = k < 3 ? 1 : -1;
        cases_rng rng = { 53 };
        cases_case c;
        ref_exact_cache cache;
        exact_keys r;
        attest_error err;
        uint64_t bits;
        cases_open(&c, "variant=linear weight=power:2 norm=sum in=f64 n=1 m=2 d=1 e=1 scale=1", &cases_plain, &rng);
        cases_set(&c, ATTEST_Q, 0, 1);
        cases_set(&c, ATTEST_K, 0, 1);
        cases_set(&c, ATTEST_K, 1, 0x1p-40);
        cases_set(&c, ATTEST_V, 0, sign * (1 + 0x1p-24));
        cases_set(&c, ATTEST_V, 1, sign * other[k % 3]);
        ref_exact_cache_init(&cache);
        c.in.exact = &cache;
        ck_assert(exact_integer_keys(&r, &c.in, (attest_row){ 0, 0, 0 }));
        ck_assert(ref_exact_rounded(&bits, ATTEST_F32, &c.in, 0, 0, &err) == ATTEST_OK);
        ck_assert_msg(bits == attest_from_f64(ATTEST_F32, sign * nearest[k % 3]), "%d: %llx", k,
                      (unsigned long long)bits);
        ref_exact_cache_clear(&cache);
        cases_close(&c);
    }
}
END_TEST

/* A fraction need not be in lowest terms, nor carry its power of two. */
START_TEST(quotients_round_as_fractions)
{
    cases_rng rng = { 47 };
    mpz_t a, b, factor;
    mpq_t q;
    mpz_inits(a, b, factor, NULL);
    mpq_init(q);
    for (int k = 0; k < 4000; k++) {
        const long power = cases_between(&rng, -300, 300);
        const uint32_t dtype = (uint32_t)(k % 4);
        mpz_set_si(a, cases_between(&rng, -4000000, 4000000));
        mpz_set_ui(b, k % 3 ? 1ul << cases_between(&rng, 0, 20) : (unsigned long)cases_between(&rng, 1, 4000000));
        mpz_set_ui(factor, (unsigned long)cases_between(&rng, 1, 1l << 40));
        mpq_set_num(q, a);
        mpq_set_den(q, b);
        mpq_canonicalize(q);
        if (power < 0)
            mpq_div_2exp(q, q, (mp_bitcnt_t)-power);
        else
            mpq_mul_2exp(q, q, (mp_bitcnt_t)power);
        mpz_mul(a, a, factor);
        mpz_mul(b, b, factor);
        ck_assert_msg(ref_round_quotient(a, b, power, dtype) == ref_round_rational(q, dtype), "quotient %d", k);
    }
    mpz_clears(a, b, factor, NULL);
    mpq_clear(q);
}
END_TEST

Suite *suite_exact_integer(void)
{
    Suite *s = suite_create("exact_integer");
    TCase *t = tcase_create("exact_integer");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, NULL, flint_cleanup);
    tcase_add_test(t, integers_equal_rationals);
    tcase_add_test(t, sizes_are_reached);
    tcase_add_test(t, scores_of_126_bits);
    tcase_add_test(t, the_rest_goes_the_other_way);
    tcase_add_test(t, ties_round_to_even);
    tcase_add_test(t, far_digits_decide);
    tcase_add_test(t, quotients_round_as_fractions);
    suite_add_tcase(s, t);
    return s;
}

/* test_shrink.c - props/shrink*: on failures whose smallest case is known; every candidate is a legal one. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/shrink/shrink.h"

Suite *suite_shrink(void);

/* ---- a failure that is a function of the example ------------------------------------------------------------ */
typedef struct scene scene;
typedef double (*ratio_of)(const attest_example *e); /* below 1: it holds; infinite: bits differ */

struct scene {
    ratio_of ratio;
    const attest_example *first;
    uint32_t end;
    long asked, fail_at;
    uint64_t *hash; /* of all that was asked */
};

static double always(const attest_example *e)
{
    (void)e;
    return INFINITY;
}

/* Of line and values, another way than shrink.c does it. */
static uint64_t identity(const attest_example *e)
{
    char line[ATTEST_LINE];
    attest_error err;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&e->c.problem, ids, ATTEST_MAX_TENSORS);
    uint64_t hash = 14695981039346656037u ^ e->number;
    ck_assert_msg(attest_case_print(line, sizeof line, &e->c, &err) == ATTEST_OK, "%s", err.text);
    for (const char *at = line; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    for (size_t k = 0; k < count; k++) {
        const attest_tensor *t = attest_bundle_get(e->inputs, ids[k]);
        for (int64_t x = 0; x < attest_tensor_count(t); x++)
            hash = (hash ^ attest_load_bits(t, x) ^ hash >> 31) * 1099511628211u;
    }
    return hash;
}

static void check_range(const attest_example *e, attest_role role, double low, double high)
{
    const attest_tensor *t = attest_bundle_role(e->inputs, role);
    for (int64_t x = 0; t && x < attest_tensor_count(t); x++)
        ck_assert_msg(attest_load(t, x) >= low && attest_load(t, x) <= high, "%s[%ld] is %a", attest_roles[role].name,
                      (long)x, attest_load(t, x));
}

/* b |k|^2 < 2 where a state is written with b. */
static void check_writes(const attest_example *e)
{
    const attest_tensor *b = attest_bundle_role(e->inputs, ATTEST_BETA), *k = attest_bundle_role(e->inputs, ATTEST_K);
    const int64_t d = e->c.problem.d;
    for (int64_t x = 0; b && x < attest_tensor_count(b); x++) {
        double norm = 0;
        for (int64_t c = 0; c < d; c++)
            norm += attest_load(k, x * d + c) * attest_load(k, x * d + c);
        ck_assert_double_lt(attest_load(b, x) * norm, 2);
    }
}

/* A state of degree 2 is symmetric. */
static void check_state(const attest_example *e)
{
    const attest_tensor *t = attest_bundle_get(e->inputs, (attest_tensor_id){ ATTEST_KIND_H0, 2 });
    const int64_t dim = attest_feature_dim(&e->c.problem);
    for (int64_t i = 0; t && i < dim; i++)
        for (int64_t j = 0; j < i; j++)
            ck_assert_uint_eq(attest_load_bits(t, attest_offset(t, 0, 0, i * dim + j, 0)),
                              attest_load_bits(t, attest_offset(t, 0, 0, j * dim + i, 0)));
}

static void check_legal(const attest_example *e)
{
    const attest_problem *p = &e->c.problem;
    char line[ATTEST_LINE];
    attest_case again;
    attest_error err;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(p, ids, ATTEST_MAX_TENSORS);
    ck_assert(attest_case_print(line, sizeof line, &e->c, &err) == ATTEST_OK);
    ck_assert_msg(attest_case_parse(&again, line, NULL, NULL, &err) == ATTEST_OK, "%s: %s", line, err.text);
    ck_assert_int_eq(p->hq % p->hkv, 0);
    for (size_t k = 0; k < count; k++) {
        attest_tensor want;
        const attest_tensor *t = attest_bundle_get(e->inputs, ids[k]);
        attest_tensor_describe(&want, p, ids[k], 0);
        ck_assert_msg(t && memcmp(t->shape, want.shape, sizeof want.shape) == 0 && t->dtype == want.dtype, "%s", line);
    }
    check_range(e, ATTEST_GIN, 0x1p-40, 1);
    check_range(e, ATTEST_GOUT, 0x1p-40, 1);
    check_range(e, ATTEST_DECAY, 0x1p-40, 1);
    check_range(e, ATTEST_GAMMA, 0x1p-40, 1);
    check_range(e, ATTEST_SLOPE, 0x1p-40, 1e9);
    check_range(e, ATTEST_BETA, 0, 0x1.fffffffffffffp0);
    check_writes(e);
    check_state(e);
    const attest_tensor *len = attest_bundle_role(e->inputs, ATTEST_KV_LENS);
    for (int64_t b = 0; len && b < p->b; b++)
        ck_assert(attest_load_int(len, b) >= 0 && attest_load_int(len, b) <= p->m);
}

/* What is drawn again keeps its values: an element of q where it was (other families look at d and scale). */
static void check_draws(const attest_example *e, const attest_example *first)
{
    const attest_tensor *q = attest_bundle_role(e->inputs, ATTEST_Q);
    const attest_tensor *from = attest_bundle_role(first->inputs, ATTEST_Q);
    if (e->explicit_values || strcmp(e->c.family, "normal") != 0 || strcmp(first->c.family, "normal") != 0)
        return;
    for (int64_t x = 0; x < attest_tensor_count(q); x++) {
        const int64_t d = q->shape[3], n = q->shape[2], h = q->shape[1];
        const int64_t at = attest_offset(from, x / d / n / h, x / d / n % h, x / d % n, x % d);
        ck_assert_uint_eq(attest_load_bits(q, x), attest_load_bits(from, at));
    }
}

static attest_status ask(void *context, attest_finding *found, const attest_example *e, attest_error *err)
{
    scene *s = context;
    const uint64_t hash = identity(e);
    check_legal(e);
    check_draws(e, s->first);
    for (long k = 0; k < s->asked; k++)
        ck_assert_msg(s->hash[k] != hash, "asked twice");
    s->hash = realloc(s->hash, (size_t)(s->asked + 1) * sizeof *s->hash);
    s->hash[s->asked++] = hash;
    if (s->asked == s->fail_at)
        return attest_fail(err, ATTEST_IO, "asked too often");
    *found = (attest_finding){ .compared = 1, .ratio = s->ratio(e), .end = s->end };
    found->broken = found->ratio > 0.5; /* whatever the ratio is worth */
    return ATTEST_OK;
}

static double clock_s;
static double tick(void) { return clock_s += 1; }

typedef struct limits {
    long attempts, fail_at;
    double seconds; /* 0: no clock */
    uint32_t end, later_end;
} limits;

static attest_shrunk shrink_within(ratio_of ratio, const char *line, limits most, attest_status want)
{
    attest_error err = { "" };
    attest_case c;
    attest_example first;
    attest_shrunk shrunk;
    const attest_shrink_options options = { most.attempts, most.seconds, most.seconds > 0 ? tick : NULL };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(attest_example_draw(&first, &c, 3, &err) == ATTEST_OK);
    scene s = { .ratio = ratio, .first = &first, .fail_at = most.fail_at, .end = most.later_end };
    const attest_finding broken = { .compared = 1, .broken = 1, .ratio = ratio(&first), .end = most.end };
    const attest_status status = attest_shrink(&shrunk, &first, &broken, &options, ask, &s, &err);
    ck_assert_msg(status == want, "%s: %s", line, err.text);
    ck_assert_int_eq(shrunk.attempts, s.asked);
    ck_assert_int_le(shrunk.attempts, most.attempts);
    free(s.hash);
    attest_example_clear(&first);
    return shrunk;
}

static attest_shrunk shrink(ratio_of ratio, const char *line)
{
    return shrink_within(ratio, line, (limits){ .attempts = 5000 }, ATTEST_OK);
}

static void expect_line(attest_shrunk *shrunk, const char *want)
{
    char line[ATTEST_LINE];
    attest_error err;
    ck_assert(attest_case_print(line, sizeof line, &shrunk->example.c, &err) == ATTEST_OK);
    ck_assert_str_eq(line, want);
}

static double element(const attest_shrunk *shrunk, attest_role role, int64_t x)
{
    return attest_load(attest_bundle_role(shrunk->example.inputs, role), x);
}

/* ---- everything fails: all the way down, through legal candidates only -------------------------------------- */

static const struct {
    const char *line, *smallest;
} downs[] = {
    { "b=2 hq=4 hkv=2 n=9 m=11 d=5 e=3 mask=causal-br", "variant=softmax n=1 d=1" },
    { "hq=6 hkv=3 n=5 d=4 lens=draw window=3 alibi=draw cap=3 b=2", "variant=softmax n=1 d=1" },
    { "variant=gdn b=2 n=6 d=4 mask=causal gates=inout", "variant=softmax weight=power:0 n=1 d=1" },
    { "variant=taylor:3 n=5 d=3 state=draw mask=causal decay=retnet", "variant=taylor:0 n=1 d=1" },
    { "variant=cosformer n=4 d=3 state=draw mask=causal", "variant=softmax weight=power:0 n=1 d=1" },
    { "variant=gla n=7 d=4 in=bf16 chunk=4 family=range:4", "variant=softmax weight=power:0 n=1 d=1" },
    { "n=6 d=4 rope=100 scale=0.3 family=peaked seed=5", "variant=softmax n=1 d=1" },
    { "variant=efla n=4 d=3 in=f16 family=huge", "variant=softmax weight=power:0 n=1 d=1" },
    { "variant=rmsnorm affine=draw eps=0.001 n=3 d=2", "variant=softmax n=1 d=1" },
};

START_TEST(all_the_way_down)
{
    attest_shrunk shrunk = shrink(always, downs[_i].line);
    const attest_problem *p = &shrunk.example.c.problem;
    ck_assert(p->b == 1 && p->hq == 1 && p->hkv == 1 && p->n == 1 && p->m == 1 && p->d == 1 && p->e == 1);
    ck_assert_double_eq(element(&shrunk, ATTEST_Q, 0), 0);
    ck_assert_double_eq(element(&shrunk, ATTEST_K, 0), 0);
    ck_assert_double_eq(element(&shrunk, ATTEST_V, 0), 0);
    ck_assert(shrunk.example.c.seed == 0 && shrunk.example.number == 0);
    expect_line(&shrunk, downs[_i].smallest);
    attest_example_clear(&shrunk.example);
}
END_TEST

/* ---- smallest cases that are known -------------------------------------------------------------------------- */

static double three_keys(const attest_example *e)
{
    return e->c.problem.m >= 3 && e->c.problem.n >= 2 && e->c.problem.hkv >= 2 ? INFINITY : 0;
}

/* A query head that shares its KV head. */
static double shared_head(const attest_example *e) { return e->c.problem.hq > e->c.problem.hkv ? INFINITY : 0; }

static double window_of_two(const attest_example *e)
{
    const attest_setting *w = &e->c.problem.axis[ATTEST_AXIS_WINDOW];
    return w->value == ATTEST_WINDOW_W && w->order >= 2 && e->c.problem.m > 3 ? INFINITY : 0;
}

static double third_order(const attest_example *e)
{
    return e->c.problem.axis[ATTEST_AXIS_WEIGHT].order >= 3 ? INFINITY : 0;
}

/* More than two chunks, the last one not full. */
static double chunk_tail(const attest_example *e)
{
    const attest_problem *p = &e->c.problem;
    return p->m > 2 * p->chunk || (p->m > p->chunk && p->m % p->chunk != 0) ? INFINITY : 0;
}

/* A length that is neither 0 nor all. */
static double short_length(const attest_example *e)
{
    const attest_tensor *len = attest_bundle_role(e->inputs, ATTEST_KV_LENS);
    return len && attest_load_int(len, 0) >= 1 && attest_load_int(len, 0) < e->c.problem.m ? INFINITY : 0;
}

static double default_scale(const attest_example *e)
{
    const attest_problem *p = &e->c.problem;
    return p->d >= 2 && attest_f64_bits(p->scale) == attest_f64_bits(attest_default_scale(p->d)) ? INFINITY : 0;
}

static double default_scale_drawn(const attest_example *e) { return e->explicit_values ? 0 : default_scale(e); }

static double masked(const attest_example *e)
{
    return e->c.problem.axis[ATTEST_AXIS_MASK].value != ATTEST_MASK_FULL ? INFINITY : 0;
}

static double unnormalised(const attest_example *e)
{
    return e->c.problem.axis[ATTEST_AXIS_NORM].value == ATTEST_NORM_NONE ? masked(e) : 0;
}

static double gated(const attest_example *e)
{
    return e->c.problem.axis[ATTEST_AXIS_GATES].value == ATTEST_GATES_INOUT &&
                   e->c.problem.axis[ATTEST_AXIS_ALIBI].value == ATTEST_ALIBI_DRAW
               ? INFINITY
               : 0;
}

/* A delta rule with four keys, none of which has a 0. */
static double delta_keys(const attest_example *e)
{
    const attest_tensor *k = attest_bundle_role(e->inputs, ATTEST_K);
    for (int64_t x = 0; x < attest_tensor_count(k); x++)
        if (fabs(attest_load(k, x)) < 0x1p-20)
            return 0;
    return attest_bundle_role(e->inputs, ATTEST_BETA) && e->c.problem.m >= 4 && e->c.problem.d >= 2 ? INFINITY : 0;
}

/* b is above 3/2 somewhere. */
static double strong_write(const attest_example *e)
{
    const attest_tensor *b = attest_bundle_role(e->inputs, ATTEST_BETA);
    for (int64_t x = 0; b && x < attest_tensor_count(b); x++)
        if (attest_load(b, x) > 1.5)
            return INFINITY;
    return 0;
}

/* Values of both signs: as they were drawn, or 1 and -1. */
static double signs(const attest_example *e)
{
    const attest_tensor *v = attest_bundle_role(e->inputs, ATTEST_V);
    int above = 0, below = 0, others = 0;
    for (int64_t x = 0; x < attest_tensor_count(v); x++) {
        above += attest_load(v, x) > 0;
        below += attest_load(v, x) < 0;
        others += fabs(attest_load(v, x)) < 1 || fabs(attest_load(v, x)) > 1;
    }
    return above && below && (e->explicit_values ? !others : strcmp(e->c.family, "normal:0.25") == 0) ? INFINITY : 0;
}

static double even_width(const attest_example *e) { return e->c.problem.d % 2 == 0 ? INFINITY : 0; }

/* Some key channel is above 1/2 in absolute value and below 0. */
static double negative_key(const attest_example *e)
{
    const attest_tensor *k = attest_bundle_role(e->inputs, ATTEST_K);
    for (int64_t x = 0; x < attest_tensor_count(k); x++)
        if (attest_load(k, x) < -0.5)
            return INFINITY;
    return 0;
}

/* v holds a number between 1 and 2 that is none of them. */
static double fractional_value(const attest_example *e)
{
    const attest_tensor *v = attest_bundle_role(e->inputs, ATTEST_V);
    for (int64_t x = 0; x < attest_tensor_count(v); x++)
        if (attest_load(v, x) > 1 && attest_load(v, x) < 2)
            return INFINITY;
    return 0;
}

static const struct {
    ratio_of ratio;
    const char *line, *smallest;
} known[] = {
    { three_keys, "b=3 hq=8 hkv=4 n=37 m=50 d=16 e=5 family=normal:2", "variant=softmax hq=2 n=2 m=3 d=1" },
    { shared_head, "b=3 hq=12 hkv=4 n=9 d=3 mask=causal", "variant=softmax hq=2 hkv=1 n=1 d=1" },
    { window_of_two, "n=20 d=4 mask=causal window=9", "variant=softmax window=2 n=1 m=4 d=1" },
    { third_order, "variant=taylor:6 n=20 d=4 mask=causal hq=4", "variant=taylor:3 n=1 d=1" },
    { chunk_tail, "variant=linear mask=causal n=150 d=4", "variant=softmax weight=power:0 n=1 m=3 d=1 chunk=1" },
    { short_length, "n=9 m=12 d=3 lens=draw b=2", "variant=softmax lens=draw n=1 m=2 d=1" },
    { default_scale_drawn, "n=9 d=16", "variant=softmax n=1 d=2 e=1 family=integers" },
    { default_scale, "n=9 d=16", "variant=softmax n=1 d=2 e=1" },
    { unnormalised, "variant=no-denominator n=9 d=2 mask=causal", "variant=softmax mask=causal norm=none n=1 d=1" },
    { masked, "n=9 d=2 mask=causal-br", "variant=softmax mask=causal n=1 d=1" },
    { gated, "n=3 d=2 gates=inout alibi=draw hq=4", "variant=softmax gates=inout alibi=draw n=1 d=1" },
    { delta_keys, "variant=deltanet n=6 d=3", "variant=deltanet n=1 m=4 d=2 e=1 scale=1" },
    { strong_write, "variant=deltanet n=12 d=3", "variant=deltanet n=1 d=1" },
    { signs, "n=2 m=5 d=2 family=normal:0.25", "variant=softmax n=1 d=1 e=2" },
    { even_width, "n=9 d=16 rope=10000", "variant=softmax n=1 d=2 e=1 scale=1" },
    { negative_key, "n=19 d=7 hq=4 hkv=2 b=2", "variant=softmax n=1 d=1" },
    { fractional_value, "n=19 d=7 hq=4 hkv=2 b=2", "variant=softmax n=1 d=1" },
};

START_TEST(the_smallest_is_found)
{
    attest_shrunk shrunk = shrink(known[_i].ratio, known[_i].line);
    expect_line(&shrunk, known[_i].smallest);
    ck_assert(shrunk.found.broken);
    ck_assert(known[_i].ratio != signs || shrunk.example.explicit_values);
    if (known[_i].ratio == negative_key) {
        ck_assert_double_eq(element(&shrunk, ATTEST_K, 0), -1);
        ck_assert(shrunk.example.explicit_values);
    }
    if (known[_i].ratio == fractional_value) /* few bits */
        ck_assert_double_eq(element(&shrunk, ATTEST_V, 0) * 8, rint(element(&shrunk, ATTEST_V, 0) * 8));
    attest_example_clear(&shrunk.example);
}
END_TEST

/* ---- what is left out leaves the rest where it belongs ------------------------------------------------------ */

static const struct {
    const char *line, *smallest;
    attest_tensor_id id;
    int64_t head, row, channel; /* of the element that must stay, with q of the query head `query`, row 1 */
    int64_t query, group;       /* at least so many query heads a KV head */
} stays[] = {
    // clang-format off
    /* cosformer's features: two rows of the state for each channel */
    { "variant=cosformer hq=2 n=3 d=3 e=2 state=draw mask=causal", "variant=cosformer state=draw n=1 d=1",
      { ATTEST_KIND_H0, 1 }, 1, 5, 1, 1, 1 },
    /* a state of degree 2: row 7 is channels (2,1) */
    { "variant=taylor:2 n=2 d=3 e=2 state=draw", "variant=taylor:2 state=draw n=1 d=2 e=1 scale=1",
      { ATTEST_KIND_H0, 2 }, 0, 7, 1, 0, 1 },
    /* query heads go with their KV head */
    { "hq=4 hkv=2 n=3 d=2", "variant=softmax hq=2 hkv=1 n=1 d=1", { ATTEST_KIND_ROLE, ATTEST_V }, 1, 2, 1, 2, 2 },
}; // clang-format on

static uint64_t stays_bits, query_bits;
static int64_t least_group;
static attest_tensor_id stays_id;

/* The element is there, in the KV head that the element of q reads. */
static double holds_both(const attest_example *e)
{
    const attest_tensor *t = attest_bundle_get(e->inputs, stays_id), *q = attest_bundle_role(e->inputs, ATTEST_Q);
    for (int64_t x = 0; t && x < attest_tensor_count(t); x++)
        for (int64_t y = 0; y < attest_tensor_count(q); y++) {
            const int64_t g = x / (t->shape[2] * t->shape[3]), h = y / (q->shape[2] * q->shape[3]);
            if (e->c.problem.hq / e->c.problem.hkv >= least_group && attest_kv_head(&e->c.problem, h) == g &&
                attest_load_bits(t, x) == stays_bits && attest_load_bits(q, y) == query_bits)
                return INFINITY;
        }
    return 0;
}

START_TEST(the_rest_stays_where_it_belongs)
{
    attest_error err;
    attest_case c;
    attest_example first;
    ck_assert(attest_case_parse(&c, stays[_i].line, NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_example_draw(&first, &c, 3, &err) == ATTEST_OK);
    stays_id = stays[_i].id;
    least_group = stays[_i].group;
    const attest_tensor *t = attest_bundle_get(first.inputs, stays_id), *q = attest_bundle_role(first.inputs, ATTEST_Q);
    stays_bits = attest_load_bits(t, attest_offset(t, 0, stays[_i].head, stays[_i].row, stays[_i].channel));
    query_bits = attest_load_bits(q, attest_offset(q, 0, stays[_i].query, 1, c.problem.d - 1));
    attest_example_clear(&first);
    attest_shrunk shrunk = shrink(holds_both, stays[_i].line);
    expect_line(&shrunk, stays[_i].smallest);
    attest_example_clear(&shrunk.example);
}
END_TEST

/* ---- what is kept ------------------------------------------------------------------------------------------- */

static double by_keys(const attest_example *e) { return (double)e->c.problem.m; }
static double barely(const attest_example *e) { return e->c.problem.n > 4 ? 1.5 : e->c.problem.n > 2 ? 1.2 : 0.9; }

START_TEST(ratios_do_not_slide)
{
    attest_shrunk shrunk = shrink(by_keys, "n=16 d=2"); /* 16/2 keys must stay */
    ck_assert_int_eq(shrunk.example.c.problem.m, 8);
    ck_assert_double_eq(shrunk.found.ratio, 8);
    attest_example_clear(&shrunk.example);
    shrunk = shrink(barely, "n=16 d=2"); /* 1.5/2 is below 1: 1 counts */
    ck_assert_int_eq(shrunk.example.c.problem.n, 3);
    attest_example_clear(&shrunk.example);
}
END_TEST

START_TEST(another_end_is_another_failure)
{
    attest_shrunk shrunk = shrink_within(always, "n=6 d=2", (limits){ .attempts = 900, .end = ATTEST_PROP_CRASH },
                                         ATTEST_OK);
    ck_assert(shrunk.kept == 0 && shrunk.attempts > 20);
    ck_assert_int_eq(shrunk.example.explicit_values, 0); /* nothing gained: still a draw */
    expect_line(&shrunk, "variant=softmax n=6 d=2");
    attest_example_clear(&shrunk.example);
    shrunk = shrink_within(always, "n=6 d=2",
                           (limits){ .attempts = 900, .end = ATTEST_PROP_CRASH, .later_end = ATTEST_PROP_CRASH },
                           ATTEST_OK);
    ck_assert_int_eq(shrunk.example.c.problem.n, 1);
    ck_assert_int_eq(shrunk.found.end, ATTEST_PROP_CRASH);
    attest_example_clear(&shrunk.example);
}
END_TEST

START_TEST(budgets)
{
    attest_shrunk shrunk = shrink_within(three_keys, "hq=2 n=37 d=16", (limits){ .attempts = 5 }, ATTEST_OK);
    ck_assert_int_eq(shrunk.attempts, 5);
    attest_example_clear(&shrunk.example);
    for (long most = 1; most < 80; most++) { /* never one more */
        shrunk = shrink_within(default_scale, "n=2 d=7", (limits){ .attempts = most }, ATTEST_OK);
        attest_example_clear(&shrunk.example);
    }
    shrunk = shrink(three_keys, "hq=2 n=37 d=16");
    const long all = shrunk.attempts;
    attest_example_clear(&shrunk.example);
    clock_s = 0;
    shrunk = shrink_within(three_keys, "hq=2 n=37 d=16", (limits){ .attempts = 1000, .seconds = 150 }, ATTEST_OK);
    ck_assert(shrunk.attempts > 0 && shrunk.attempts < all);
    attest_example_clear(&shrunk.example);
    shrunk = shrink_within(three_keys, "hq=2 n=37 d=16", (limits){ .attempts = 1000, .fail_at = 30 }, ATTEST_IO);
    ck_assert_int_eq(shrunk.attempts, 30);
    ck_assert(shrunk.kept > 0 && shrunk.example.c.problem.n < 37); /* the best so far */
    attest_example_clear(&shrunk.example);
}
END_TEST

Suite *suite_shrink(void)
{
    Suite *suite = suite_create("props_shrink");
    TCase *tc = tcase_create("shrink");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, all_the_way_down, 0, sizeof downs / sizeof downs[0]);
    tcase_add_loop_test(tc, the_smallest_is_found, 0, sizeof known / sizeof known[0]);
    tcase_add_loop_test(tc, the_rest_stays_where_it_belongs, 0, sizeof stays / sizeof stays[0]);
    tcase_add_test(tc, ratios_do_not_slide);
    tcase_add_test(tc, another_end_is_another_failure);
    tcase_add_test(tc, budgets);
    suite_add_tcase(suite, tc);
    return suite;
}

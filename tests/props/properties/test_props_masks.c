/* test_props_masks.c - props/properties/property_masks.c: what a row does not see does not matter. */
#include "tests/props/properties/props_ask.h"

#include <math.h>

Suite *suite_props_masks(void);

static const char *const names[] = { "causal-prefix", "unseen-keys", "prefix-alone", "length-alone", "wide-window",
                                     "last-row",      "last-rows",   "square-mask",  "fully-masked" };
enum { NAMES = sizeof names / sizeof names[0] };

static const char *const lines[] = {
    "n=9 d=4 hq=2 hkv=1 mask=causal",
    "n=33 m=40 d=3 e=5 in=bf16 p=bf16 mask=causal-br",
    "n=7 d=2 in=f64 mask=causal",
    "n=9 m=5 d=2 mask=causal-br",
    "n=9 m=12 d=2 mask=causal window=3",
    "n=12 d=2 window=2",
    "n=12 m=4 d=2 window=2 in=f64",
    "n=8 d=2 b=3 lens=draw",
    "n=8 d=2 b=3 lens=draw mask=causal",
    "n=8 m=10 d=2 b=3 lens=draw mask=causal-br rope=100",
    "n=9 d=2 alibi=draw hq=2 mask=causal-br splits=3",
    "variant=fox n=9 d=2",
    "variant=fox n=9 d=2 lens=draw b=2",
    "variant=gated-softmax n=9 d=2 mask=causal",
    "variant=shifted:2 n=9 d=2 mask=causal lens=draw b=2",
    "variant=filtered:0.5 n=9 d=2 mask=causal",
    "variant=divlen n=9 m=11 d=2 window=3 mask=causal-br",
    "variant=linear mask=causal n=17 d=3 chunk=4",
    "variant=linear mask=causal n=6 m=9 d=2 norm=sum",
    "variant=linear mask=causal-br n=5 m=9 d=2 state=draw",
    "variant=linear lens=draw b=2 n=9 d=2",
    "variant=taylor:2 mask=causal-br n=9 d=2 chunk=4",
    "variant=taylor:3 mask=causal n=9 d=2 b=2 lens=draw",
    "variant=retnet n=8 d=2 e=3 b=2 lens=draw",
    "variant=gla n=8 d=2",
    "variant=cosformer mask=causal-br n=6 m=8 d=3",
    "variant=cosformer mask=causal n=6 d=3 b=2 lens=draw",
    "variant=deltanet mask=causal n=9 d=3 chunk=4",
    "variant=deltanet mask=causal-br n=5 m=9 d=2",
    "variant=deltanet mask=causal-br n=9 m=4 d=2",
    "variant=gdn mask=causal n=6 d=2 state=draw",
    "variant=sla mask=causal n=6 d=2 hq=2 hkv=2",
    "n=4 d=2",
    "n=3 m=5 d=2",
    "variant=cosformer n=2 m=9 d=3 b=2 lens=draw",
    "variant=softmax bias=head lens=draw b=2 hq=2 n=5 m=9 d=4",
    "variant=softmax bias=shared lens=draw b=2 hq=2 n=5 m=9 d=4",
    "variant=softmax bias=batch mask=causal window=3 b=2 hq=2 n=9 d=4",
    "variant=softmax attn_mask=full mask=causal b=2 hq=2 n=9 d=4",
    "variant=softmax attn_mask=shared lens=draw b=2 hq=2 n=5 m=9 d=4",
    "variant=taylor:2 attn_mask=batch mask=causal-br b=2 hq=4 hkv=2 n=9 d=4",
    "variant=softmax attn_mask=head hq=2 n=9 d=4",
};
enum { LINES = sizeof lines / sizeof lines[0] };

START_TEST(hold) { check_lines_hold(names[_i], lines, LINES, 200); }
END_TEST

START_TEST(see_their_violations) { check_lines_violated(names[_i], lines, LINES, 6); }
END_TEST

START_TEST(bounds_without_flags)
{
    static const char *const asked_lines[] = { "n=6 m=9 d=2 e=2 mask=causal", "n=4 d=2 mask=causal",
                                               "n=5 d=2 b=2 lens=draw" };
    const int by_values = strcmp(names[_i], "fully-masked") == 0;
    int64_t compared = 0;
    for (int l = 0; l < 3 && !by_values; l++) {
        const question x = { names[_i], "softmax-two-pass-f32", asked_lines[l] };
        compared += check_bounds_alone(&x, ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS);
    }
    ck_assert_msg(compared > 0 || by_values, "%s", names[_i]);
}
END_TEST

/* Where sums of another mask or size may have another order, no bits are demanded: no flag fixes it. */
static const question unordered[] = {
    { "prefix-alone", "softmax-split-f32", "n=5 d=2 mask=causal" },
    { "prefix-alone", "delta-parallel-f32", "variant=deltanet n=5 d=2" },
    /* Nor where the mask, the window or the lengths have another name, whatever the order. */
    { "length-alone", "softmax-two-pass-f32", "n=5 d=2 lens=draw b=2" },
    { "wide-window", "taylor-recurrent-f32", "variant=taylor:2 n=5 d=2 mask=causal" },
    { "last-row", "softmax-two-pass-f32", "n=5 d=2 mask=causal" },
    { "last-rows", "softmax-two-pass-f32", "n=5 d=2 mask=causal" },
    { "square-mask", "softmax-two-pass-f32", "n=5 d=2 mask=causal" },
};

START_TEST(no_bits_by_parts)
{
    asked *a = asked_open(NULL, 0);
    asked_choose(a, unordered[_i].kernel);
    const attest_finding found = asked_once(a, unordered[_i].property, unordered[_i].line, 0);
    ck_assert_msg(found.compared == 0, "%s %s", unordered[_i].property, unordered[_i].kernel);
    asked_close(a);
}
END_TEST

/* How many elements are compared: of these rows and no others. */
static const struct {
    const char *property, *kernel, *line;
    int64_t compared;
    int bounds;     /* 1: by them, else by bits */
    uint32_t holds; /* what the kernel declares of rows without a key */
} counts[] = {
    { "fully-masked", "softmax-two-pass-f32", "n=5 m=2 d=2 e=3 hq=2 mask=causal-br", 2 * 3 * (3 + 1), 0, 0 },
    { "fully-masked", "softmax-two-pass-f32", "n=9 m=3 d=2 e=3 window=2", 5 * (3 + 1), 0, 0 },
    { "fully-masked", "softmax-two-pass-f32", "n=5 m=9 d=2 mask=causal-br", 0, 0, 0 },
    { "fully-masked", "taylor-direct-f32", "variant=taylor:2 n=3 m=1 d=2 e=3 mask=causal-br", 2 * (3 + 3 + 1 + 1), 0,
      0 },
    { "unseen-keys", "softmax-two-pass-f32", "n=3 m=4 d=2 e=3 mask=causal", 3 * (3 + 1), 0, 0 },
    { "unseen-keys", "softmax-two-pass-f32", "n=5 m=5 d=2 e=3 mask=causal", 0, 0, 0 },
    { "unseen-keys", "softmax-two-pass-f32", "n=5 m=3 d=2 e=3 mask=causal", 0, 0, 0 },
    { "causal-prefix", "softmax-two-pass-f32", "n=2 d=2 e=3 mask=causal", 1 * (3 + 1), 0, 0 }, /* the cut is 1 */
    { "causal-prefix", "softmax-two-pass-f32", "n=4 m=2 d=2 e=3 mask=causal-br", 3 * (3 + 1), 0, 0 },
    { "causal-prefix", "softmax-two-pass-f32", "n=5 m=2 d=2 e=3 window=2", 2 * (3 + 1), 0,
      0 }, /* rows 3 and 4 are empty */
    { "causal-prefix", "softmax-two-pass-f32", "n=4 m=2 d=2 e=3 mask=causal-br", 1 * (3 + 1), 0, ATTEST_EMPTY_MEAN },
    { "causal-prefix", "softmax-two-pass-f32", "n=4 m=2 d=2 e=3 mask=causal-br", 1 * (3 + 1), 0, ATTEST_EMPTY_ANY },
    { "causal-prefix", "softmax-two-pass-f32", "n=4 m=2 d=2 e=3 mask=causal-br", 3 * (3 + 1), 0, ATTEST_EMPTY_NAN },
    { "prefix-alone", "softmax-two-pass-f32", "n=2 d=2 e=3 mask=causal", 1 * (3 + 1), 0, 0 },
    { "last-row", "softmax-two-pass-f32", "n=5 d=2 e=3 mask=causal-br hq=2", 2 * (3 + 1), 0, 0 },
    { "last-row", "softmax-two-pass-f32", "n=5 d=2 e=3 mask=causal hq=2", 2 * (3 + 1), 1, 0 },
    { "last-rows", "softmax-two-pass-f32", "n=3 m=7 d=2 e=3 mask=causal-br", 2 * (3 + 1), 0, 0 },
    { "wide-window", "softmax-two-pass-f32", "n=3 m=7 d=2 e=3 mask=causal-br", 3 * (3 + 1), 1, 0 },
    { "square-mask", "softmax-two-pass-f32", "n=3 d=2 e=3 mask=causal-br", 3 * (3 + 1), 1, 0 },
    /* o u z, and the final states h [2,3], z [2] */
    { "unseen-keys", "linear-recurrent-f32", "variant=linear n=3 m=4 d=2 e=3 mask=causal", 3 * 7 + 2 * 4, 0, 0 },
    { "last-row", "linear-recurrent-f32", "variant=linear n=3 d=2 e=3 mask=causal", 7 + 2 * 4, 1, 0 },
    { "length-alone", "linear-recurrent-f32", "variant=linear n=3 m=9 d=2 e=3 lens=draw", 3 * 7 + 2 * 4, 1, 0 },
    { "square-mask", "linear-recurrent-f32", "variant=linear n=3 d=2 e=3 mask=causal", 3 * 7 + 2 * 4, 1, 0 },
};

START_TEST(what_is_compared)
{
    asked *a = asked_open(NULL, counts[_i].bounds);
    asked_choose(a, counts[_i].kernel);
    a->kernel.numerics.empty_row = counts[_i].holds;
    const attest_finding found = asked_once(a, counts[_i].property, counts[_i].line, 0);
    ck_assert_msg(found.compared == counts[_i].compared, "%s on %s: %lld", counts[_i].property, counts[_i].line,
                  (long long)found.compared);
    asked_close(a);
}
END_TEST

static const about_line about[] = {
    { "causal-prefix", "n=3", 0 },
    { "causal-prefix", "n=3 window=1", 1 },
    { "causal-prefix", "n=3 m=1 mask=causal", 0 },
    { "unseen-keys", "n=3", 0 },
    { "unseen-keys", "n=3 lens=draw", 1 },
    { "prefix-alone", "n=3 m=4 mask=causal", 0 },
    { "prefix-alone", "n=3 mask=causal-br", 1 },
    { "prefix-alone", "n=3 mask=causal-br lens=draw", 0 },
    { "prefix-alone", "n=3 mask=causal lens=draw", 1 },
    { "prefix-alone", "variant=cosformer n=3 mask=causal", 0 },
    { "prefix-alone", "n=1 mask=causal", 0 },
    { "prefix-alone", "n=3", 0 },
    { "length-alone", "n=3", 0 },
    { "length-alone", "n=3 lens=draw", 1 },
    { "wide-window", "n=3 window=9", 0 },
    { "wide-window", "variant=linear state=draw n=3", 0 },
    { "wide-window", "variant=deltanet n=3", 0 },
    { "last-row", "n=3 m=4 mask=causal", 0 },
    { "last-row", "n=3 mask=causal lens=draw", 0 },
    { "last-row", "n=3 m=4 mask=causal-br lens=draw", 1 },
    { "last-row", "n=1 mask=causal", 0 },
    { "last-rows", "n=2 mask=causal", 0 },
    { "last-row", "variant=cosformer n=4 m=3 mask=causal-br", 0 },
    { "last-row", "variant=cosformer n=3 m=4 mask=causal-br", 1 },
    { "square-mask", "n=3 m=4 mask=causal", 0 },
    { "square-mask", "n=3 mask=causal lens=draw", 0 },
    { "fully-masked", "n=3", 0 },
    { "fully-masked", "variant=linear n=3 mask=causal state=draw", 0 },
};

START_TEST(variants) { check_about(&about[_i]); }
END_TEST

/* Planted defects, each found by the property that it breaks. */
static const question found_in[] = {
    { "causal-prefix", "causal-leak", "n=5 d=4 mask=causal" },
    { "causal-prefix", "block-causal", "n=5 d=4 mask=causal in=bf16 p=bf16" },
    { "causal-prefix", "length-ignored", "n=5 d=4 lens=draw b=4" },
    { "unseen-keys", "length-ignored", "n=5 d=4 lens=draw b=4" },
    { "unseen-keys", "causal-align", "n=5 m=9 d=4 mask=causal" },
    { "length-alone", "length-of-first", "n=5 d=4 lens=draw b=4 seed=3" },
    { "last-row", "window-decode", "n=5 m=9 d=4 mask=causal-br window=2" },
    { "fully-masked", "causal-align-flip", "n=9 m=5 d=4 mask=causal-br" },
    { "last-rows", "window-decode", "n=5 m=9 d=4 mask=causal-br window=2" },
    { "fully-masked", "mask-row-nan", "n=5 m=2 d=4 mask=causal-br" },
    { "fully-masked", "empty-row-lse", "n=5 m=2 d=4 mask=causal-br" },
};

START_TEST(defects) { check_seen_by_bits(&found_in[_i]); }
END_TEST

/* NaN in a row without visible key is as good where it is declared, and only there. */
START_TEST(declared_nan)
{
    asked *a = asked_open(DEFECTS, 0);
    const char *line = "n=5 m=2 d=4 mask=causal-br";
    asked_choose(a, "mask-row-nan");
    ck_assert(asked_once(a, "fully-masked", line, 0).broken);
    a->kernel.numerics.empty_row = ATTEST_EMPTY_NAN;
    ck_assert(!asked_once(a, "fully-masked", line, 0).broken);
    asked_choose(a, "empty-row-lse");
    a->kernel.numerics.empty_row = ATTEST_EMPTY_NAN;
    ck_assert(asked_once(a, "fully-masked", line, 0).broken);
    a->kernel.numerics.empty_row = ATTEST_EMPTY_ANY;
    ck_assert(!asked_once(a, "fully-masked", line, 0).broken);
    asked_close(a);
}
END_TEST

/* ---- a kernel that looks at what it is given --------------------------------------------------------------------- */

static int serves(void *context, const attest_problem *p)
{
    (void)context;
    (void)p;
    return 1;
}

/* What was seen of the last run: lengths beyond m; the largest magnitude of the last token's k and v; its rate. */
typedef struct seen {
    int beyond;
    double k, v, b;
} seen;

static double largest_of_last(const attest_bundle *inputs, attest_role role, int64_t m, int64_t width)
{
    const attest_tensor *t = attest_bundle_role(inputs, role);
    double most = 0;
    for (int64_t at = 0; t && at < attest_tensor_count(t); at++)
        if (at / width % m == m - 1)
            most = fmax(most, fabs(attest_load(t, at)));
    return most;
}

/* o = 0 */
static attest_status look(void *context, const attest_case *c, const attest_bundle *inputs, uint32_t wanted,
                          int strided, attest_bundle **outputs, attest_prop_run *run, attest_error *err)
{
    const attest_tensor *len = attest_bundle_role(inputs, ATTEST_KV_LENS);
    const attest_problem *p = &c->problem;
    seen *s = context;
    (void)wanted;
    (void)strided;
    run->end = ATTEST_PROP_DONE;
    for (int64_t b = 0; len && b < p->b; b++)
        s->beyond += attest_load_int(len, b) > p->m;
    s->k = largest_of_last(inputs, ATTEST_K, p->m, p->d);
    s->v = largest_of_last(inputs, ATTEST_V, p->m, p->e);
    s->b = largest_of_last(inputs, ATTEST_BETA, p->m, 1);
    ck_assert_int_eq(attest_bundle_new(outputs, err), ATTEST_OK);
    return attest_bundle_add(*outputs, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, NULL, err);
}

static seen look_at(const char *name, const char *line)
{
    seen s = { 0 };
    const attest_prop_host host = { &s, serves, look, NULL };
    const attest_prop_kernel kernel = { .flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS };
    attest_finding found = { 0 };
    attest_bundle *inputs = NULL;
    attest_trial trial;
    attest_error err;
    attest_case c;
    ck_assert_int_eq(attest_case_parse(&c, line, NULL, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_bundle_new(&inputs, &err), ATTEST_OK);
    ck_assert_int_eq(attest_draw_missing(inputs, &c, 0, 0, &err), ATTEST_OK);
    ck_assert_int_eq(attest_trial_init(&trial, &host, &kernel, &c, 0, inputs, NULL, &err), ATTEST_OK);
    ck_assert_int_eq(attest_property_find(name)->check(&found, &trial, &err), ATTEST_OK);
    ck_assert(found.compared > 0 && !found.broken);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return s;
}

/* No length is beyond the keys that are left. */
START_TEST(lengths_are_cut)
{
    ck_assert_int_eq(look_at("prefix-alone", "n=6 d=1 b=20 mask=causal lens=draw").beyond, 0);
}
END_TEST

/* The last token is always changed: to values of which no state grows. */
START_TEST(other_values_are_tame)
{
    const seen s = look_at("causal-prefix", "variant=deltanet n=9 d=6 e=9 b=30 family=normal:8");
    ck_assert(s.k > 0.5 && s.k <= 1 && s.v > 0.5 && s.v <= 1);
    ck_assert(s.b > 0.5 / 24 && s.b <= 1.0 / 24);
}
END_TEST

Suite *suite_props_masks(void)
{
    Suite *suite = suite_create("props_masks");
    TCase *c = tcase_create("props_masks");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, hold, 0, NAMES);
    tcase_add_loop_test(c, see_their_violations, 0, NAMES);
    tcase_add_loop_test(c, bounds_without_flags, 0, NAMES);
    tcase_add_loop_test(c, no_bits_by_parts, 0, sizeof unordered / sizeof unordered[0]);
    tcase_add_loop_test(c, what_is_compared, 0, sizeof counts / sizeof counts[0]);
    tcase_add_loop_test(c, variants, 0, sizeof about / sizeof about[0]);
    tcase_add_loop_test(c, defects, 0, sizeof found_in / sizeof found_in[0]);
    tcase_add_test(c, declared_nan);
    tcase_add_test(c, lengths_are_cut);
    tcase_add_test(c, other_values_are_tame);
    suite_add_tcase(suite, c);
    return suite;
}

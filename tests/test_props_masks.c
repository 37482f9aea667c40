/* test_props_masks.c - props/property_masks.c: what a row does not see does not matter. */
#include "tests/props_asked.h"

#include <math.h>

#include "kernels/registry.h"

Suite *suite_props_masks(void);

static const char *const names[] = { "causal-prefix", "unseen-keys", "prefix-alone", "length-alone", "wide-window",
                                     "last-row",      "last-rows",   "square-mask",  "fully-masked" };
enum { NAMES = sizeof names / sizeof names[0] };

static const char *const lines[] = {
    "n=9 d=4 hq=2 hkv=1 mask=causal", "n=33 m=40 d=3 e=5 in=bf16 p=bf16 mask=causal-br", "n=7 d=2 in=f64 mask=causal",
    "n=9 m=5 d=2 mask=causal-br", "n=9 m=12 d=2 mask=causal window=3", "n=12 d=2 window=2",
    "n=12 m=4 d=2 window=2 in=f64",
    "n=8 d=2 b=3 lens=draw", "n=8 d=2 b=3 lens=draw mask=causal", "n=8 m=10 d=2 b=3 lens=draw mask=causal-br rope=100",
    "n=9 d=2 alibi=draw hq=2 mask=causal-br splits=3", "variant=fox n=9 d=2", "variant=fox n=9 d=2 lens=draw b=2",
    "variant=gated-softmax n=9 d=2 mask=causal", "variant=shifted:2 n=9 d=2 mask=causal lens=draw b=2",
    "variant=filtered:0.5 n=9 d=2 mask=causal", "variant=divlen n=9 m=11 d=2 window=3 mask=causal-br",
    "variant=linear mask=causal n=17 d=3 chunk=4", "variant=linear mask=causal n=6 m=9 d=2 norm=sum",
    "variant=linear mask=causal-br n=5 m=9 d=2 state=draw", "variant=linear lens=draw b=2 n=9 d=2",
    "variant=taylor:2 mask=causal-br n=9 d=2 chunk=4", "variant=taylor:3 mask=causal n=9 d=2 b=2 lens=draw",
    "variant=retnet n=8 d=2 e=3 b=2 lens=draw", "variant=gla n=8 d=2", "variant=cosformer mask=causal-br n=6 m=8 d=3",
    "variant=cosformer mask=causal n=6 d=3 b=2 lens=draw", "variant=deltanet mask=causal n=9 d=3 chunk=4",
    "variant=deltanet mask=causal-br n=5 m=9 d=2", "variant=deltanet mask=causal-br n=9 m=4 d=2",
    "variant=gdn mask=causal n=6 d=2 state=draw", "variant=sla mask=causal n=6 d=2 hq=2 hkv=2", "n=4 d=2",
    "n=3 m=5 d=2", "variant=cosformer n=2 m=9 d=3 b=2 lens=draw",
};
enum { LINES = sizeof lines / sizeof lines[0] };

/* Every line on every built-in kernel that serves it: nothing is broken, bits agree; and something was compared. */
START_TEST(hold)
{
    const attest_library *library = attest_builtin_library();
    asked *a = asked_open(NULL, 0);
    int64_t compared = 0;
    for (size_t k = 0; k < library->kernel_count; k++) {
        asked_choose(a, library->kernels[k]->name);
        for (int l = 0; l < LINES; l++) {
            int served;
            const attest_finding found = asked_once(a, names[_i], lines[l], 0, 0, &served);
            ck_assert_msg(!found.broken, "%s: %s: %s", library->kernels[k]->name, lines[l], found.what);
            compared += found.compared;
        }
    }
    ck_assert_msg(compared > 200, "%s: %lld", names[_i], (long long)compared);
    asked_close(a);
}
END_TEST

/* Its own violation is seen on every line where something is compared. */
START_TEST(see_their_violations)
{
    const attest_library *library = attest_builtin_library();
    asked *a = asked_open(NULL, 0);
    int tried = 0;
    for (size_t k = 0; k < library->kernel_count; k += 2) {
        asked_choose(a, library->kernels[k]->name);
        for (int l = 0; l < LINES; l++) {
            int served;
            const attest_finding found = asked_once(a, names[_i], lines[l], 1, 0, &served);
            tried += found.compared > 0;
            ck_assert_msg(found.compared == 0 || found.broken, "%s: %s", library->kernels[k]->name, lines[l]);
        }
    }
    ck_assert_msg(tried >= 6, "%s: %d", names[_i], tried);
    asked_close(a);
}
END_TEST

/* Kernels without the flags owe no bits: nothing is said without bounds, and within them all holds. */
START_TEST(bounds_without_flags)
{
    static const char *const asked_lines[] = { "n=6 m=9 d=2 e=2 mask=causal", "n=4 d=2 mask=causal",
                                               "n=5 d=2 b=2 lens=draw" };
    const uint32_t flags = ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS;
    asked *a = asked_open(NULL, 0), *b = asked_open(NULL, 1);
    int64_t compared = 0;
    asked_choose(a, "softmax-two-pass-f32");
    asked_choose(b, "softmax-two-pass-f32");
    for (int l = 0; l < 3 && strcmp(names[_i], "fully-masked") != 0; l++) {
        int served;
        ck_assert_int_eq(asked_once(a, names[_i], asked_lines[l], 0, flags, &served).compared, 0);
        const attest_finding found = asked_once(b, names[_i], asked_lines[l], 0, flags, &served);
        ck_assert_msg(!found.broken, "%s", found.what);
        compared += found.compared;
        if (found.compared) /* the bound still sees a violation */
            ck_assert(asked_once(b, names[_i], asked_lines[l], 1, flags, &served).broken);
    }
    ck_assert_msg(compared > 0 || strcmp(names[_i], "fully-masked") == 0, "%s", names[_i]);
    asked_close(a);
    asked_close(b);
}
END_TEST

/* Where sums of another mask or size may have another order, no bits are demanded: no flag fixes it. */
static const struct { const char *property, *kernel, *line; } unordered[] = {
    { "prefix-alone", "softmax-split-f32", "n=5 d=2 mask=causal" },
    { "prefix-alone", "delta-parallel-f32", "variant=deltanet n=5 d=2" },
    { "length-alone", "softmax-split-f32", "n=5 d=2 lens=draw b=2" },
    { "wide-window", "taylor-split-f32", "variant=taylor:2 n=5 d=2" },
    { "last-row", "softmax-split-f32", "n=5 d=2 mask=causal" },
    { "square-mask", "softmax-split-f32", "n=5 d=2 mask=causal" },
};

START_TEST(no_bits_by_parts)
{
    asked *a = asked_open(NULL, 0);
    int served;
    asked_choose(a, unordered[_i].kernel);
    const attest_finding found = asked_once(a, unordered[_i].property, unordered[_i].line, 0, 0, &served);
    ck_assert_msg(served && found.compared == 0, "%s %s", unordered[_i].property, unordered[_i].kernel);
    asked_close(a);
}
END_TEST

/* How many elements are compared: of these rows and no others. */
static const struct { const char *property, *kernel, *line; int64_t compared; } counts[] = {
    { "fully-masked", "softmax-two-pass-f32", "n=5 m=2 d=2 e=3 hq=2 mask=causal-br", 2 * 3 * (3 + 1) },
    { "fully-masked", "softmax-two-pass-f32", "n=9 m=3 d=2 e=3 window=2", 5 * (3 + 1) },
    { "fully-masked", "softmax-two-pass-f32", "n=5 m=9 d=2 mask=causal-br", 0 },
    { "fully-masked", "taylor-direct-f32", "variant=taylor:2 n=3 m=1 d=2 e=3 mask=causal-br", 2 * (3 + 3 + 1 + 1) },
    { "unseen-keys", "softmax-two-pass-f32", "n=3 m=4 d=2 e=3 mask=causal", 3 * (3 + 1) },
    { "unseen-keys", "softmax-two-pass-f32", "n=5 m=5 d=2 e=3 mask=causal", 0 },
    { "unseen-keys", "softmax-two-pass-f32", "n=5 m=3 d=2 e=3 mask=causal", 0 },
    { "causal-prefix", "softmax-two-pass-f32", "n=2 d=2 e=3 mask=causal", 1 * (3 + 1) },     /* the cut is 1 */
    { "causal-prefix", "softmax-two-pass-f32", "n=4 m=2 d=2 e=3 mask=causal-br", 3 * (3 + 1) },
    { "causal-prefix", "softmax-two-pass-f32", "n=5 m=2 d=2 e=3 window=2", 2 * (3 + 1) }, /* rows 3 and 4 are empty */
    { "prefix-alone", "softmax-two-pass-f32", "n=2 d=2 e=3 mask=causal", 1 * (3 + 1) },
    { "last-row", "softmax-two-pass-f32", "n=5 d=2 e=3 mask=causal hq=2", 2 * (3 + 1) },
    { "last-rows", "softmax-two-pass-f32", "n=3 m=7 d=2 e=3 mask=causal-br", 2 * (3 + 1) },
    { "wide-window", "softmax-two-pass-f32", "n=3 m=7 d=2 e=3 mask=causal-br", 3 * (3 + 1) },
    { "square-mask", "softmax-two-pass-f32", "n=3 d=2 e=3 mask=causal-br", 3 * (3 + 1) },
    /* o u z, and the final states h [2,3], z [2] */
    { "unseen-keys", "linear-recurrent-f32", "variant=linear n=3 m=4 d=2 e=3 mask=causal", 3 * 7 + 2 * 4 },
    { "last-row", "linear-recurrent-f32", "variant=linear n=3 d=2 e=3 mask=causal", 7 + 2 * 4 },
    { "length-alone", "linear-recurrent-f32", "variant=linear n=3 m=9 d=2 e=3 lens=draw", 3 * 7 + 2 * 4 },
    { "square-mask", "linear-recurrent-f32", "variant=linear n=3 d=2 e=3 mask=causal", 3 * 7 + 2 * 4 },
};

START_TEST(what_is_compared)
{
    asked *a = asked_open(NULL, 0);
    int served;
    asked_choose(a, counts[_i].kernel);
    const attest_finding found = asked_once(a, counts[_i].property, counts[_i].line, 0, 0, &served);
    ck_assert_msg(found.compared == counts[_i].compared, "%s on %s: %lld", counts[_i].property, counts[_i].line,
                  (long long)found.compared);
    asked_close(a);
}
END_TEST

static const struct { const char *name, *line; int applies; } about[] = {
    { "causal-prefix", "n=3", 0 },                        { "causal-prefix", "n=3 window=1", 1 },
    { "causal-prefix", "n=3 m=1 mask=causal", 0 },        { "unseen-keys", "n=3", 0 },
    { "unseen-keys", "n=3 lens=draw", 1 },                { "prefix-alone", "n=3 m=4 mask=causal", 0 },
    { "prefix-alone", "n=3 mask=causal-br", 1 },          { "prefix-alone", "n=3 mask=causal-br lens=draw", 0 },
    { "prefix-alone", "n=3 mask=causal lens=draw", 1 },   { "prefix-alone", "variant=cosformer n=3 mask=causal", 0 },
    { "prefix-alone", "n=1 mask=causal", 0 },             { "prefix-alone", "n=3", 0 },
    { "length-alone", "n=3", 0 },                         { "length-alone", "n=3 lens=draw", 1 },
    { "wide-window", "n=3 window=9", 0 },                 { "wide-window", "variant=linear state=draw n=3", 0 },
    { "wide-window", "variant=deltanet n=3", 0 },         { "last-row", "n=3 m=4 mask=causal", 0 },
    { "last-row", "n=3 mask=causal lens=draw", 0 },       { "last-row", "n=3 m=4 mask=causal-br lens=draw", 1 },
    { "last-row", "n=1 mask=causal", 0 },                 { "last-rows", "n=2 mask=causal", 0 },
    { "last-row", "variant=cosformer n=4 m=3 mask=causal-br", 0 },
    { "last-row", "variant=cosformer n=3 m=4 mask=causal-br", 1 },
    { "square-mask", "n=3 m=4 mask=causal", 0 },          { "square-mask", "n=3 mask=causal lens=draw", 0 },
    { "fully-masked", "n=3", 0 },
    { "fully-masked", "variant=linear n=3 mask=causal state=draw", 0 },
};

START_TEST(variants)
{
    attest_error err;
    attest_case c;
    const attest_prop_kernel kernel = { .flags = ATTEST_DETERMINISTIC };
    ck_assert_msg(attest_case_parse(&c, about[_i].line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_msg(attest_property_find(about[_i].name)->applies(&c.problem, &kernel) == about[_i].applies, "%s: %s",
                  about[_i].name, about[_i].line);
}
END_TEST

/* Planted defects, each found by the property that it breaks. */
static const struct { const char *property, *kernel, *line; } found_in[] = {
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

START_TEST(defects)
{
    asked *a = asked_open(ATTEST_TEST_BUILD "/defects/defects.so", 0);
    int served;
    asked_choose(a, found_in[_i].kernel);
    const attest_finding found = asked_once(a, found_in[_i].property, found_in[_i].line, 0, 0, &served);
    ck_assert_msg(found.broken, "%s: %s on %s", found_in[_i].property, found_in[_i].kernel, found_in[_i].line);
    asked_close(a);
}
END_TEST

/* NaN in a row without visible key is as good where it is declared, and only there. */
START_TEST(declared_nan)
{
    asked *a = asked_open(ATTEST_TEST_BUILD "/defects/defects.so", 0);
    const char *line = "n=5 m=2 d=4 mask=causal-br";
    int served;
    asked_choose(a, "mask-row-nan");
    ck_assert(asked_once(a, "fully-masked", line, 0, 0, &served).broken);
    ck_assert(!asked_once(a, "fully-masked", line, 0, ATTEST_EMPTY_ROW_NAN, &served).broken);
    asked_choose(a, "empty-row-lse");
    ck_assert(asked_once(a, "fully-masked", line, 0, ATTEST_EMPTY_ROW_NAN, &served).broken);
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
    const attest_tensor *len = attest_bundle_role(inputs, ATTEST_LEN);
    const attest_problem *p = &c->problem;
    seen *s = context;
    (void)wanted;
    (void)strided;
    run->end = ATTEST_PROP_DONE;
    for (int64_t b = 0; len && b < p->b; b++)
        s->beyond += attest_load_int(len, b) > p->m;
    s->k = largest_of_last(inputs, ATTEST_K, p->m, p->d);
    s->v = largest_of_last(inputs, ATTEST_V, p->m, p->e);
    s->b = largest_of_last(inputs, ATTEST_B, p->m, 1);
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

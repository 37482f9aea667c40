/* test_typical.c - the yardstick on outputs made by hand: plain ones, ones that err more or less, and cases of which it
 * must say that they are not modelled. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "kernels/redrawn/redrawn.h"
#include "tests/verify/compare/compare_scene.h"
#include "verify/typical/typical.h"

Suite *suite_typical(void);

static const attest_numerics two_pass = { .struct_size = sizeof two_pass, .schedule = ATTEST_SCHEDULE_TWO_PASS };
static const attest_numerics recurrent = { .struct_size = sizeof recurrent,
                                           .schedule = ATTEST_SCHEDULE_RECURRENT,
                                           .exp_error = 0x1p-23,
                                           .decay_products = ATTEST_YES };

static attest_typical measure(scene *s, const attest_numerics *numerics)
{
    attest_error err = { "" };
    attest_typical t;
    ok(attest_typical_measure(&t, s->truth, &s->c, s->inputs, attest_bundle_get(s->outputs, O), numerics, 0, &err),
       &err);
    return t;
}

/* o of the plain kernel, with draws of its own. */
static attest_tensor *give_plain(scene *s, const attest_numerics *numerics, uint64_t seed)
{
    attest_error err = { "" };
    attest_redrawn plain;
    attest_tensor *o = give(s, O);
    ok(attest_redrawn_find(&plain, &s->c.problem, numerics, &err), &err);
    ok(attest_redrawn_run(&plain, s->inputs, o, NULL, seed, &err), &err);
    return o;
}

static const struct {
    const char *line;
    const attest_numerics *numerics;
} lines[] = {
    { "variant=softmax mask=causal n=60 d=8", &two_pass },
    { "variant=softmax n=30 m=200 d=16 in=bf16 out=f32", &two_pass },
    { "variant=linear-elu mask=causal n=100 d=8", &recurrent },
    { "variant=gdn mask=causal n=50 d=8", &recurrent },
};

/* Other draws than the yardstick's are as plain; errors 12 times as large are worse, a twelfth is better. */
START_TEST(larger_and_smaller)
{
    scene s, exact;
    open_scene(&s, lines[_i].line, NULL);
    open_scene(&exact, lines[_i].line, NULL);
    attest_tensor *o = give_plain(&s, lines[_i].numerics, 12345), *t = give(&exact, O);
    const attest_typical plain = measure(&s, lines[_i].numerics), again = measure(&s, lines[_i].numerics);
    ck_assert_uint_eq(plain.state, ATTEST_TYPICAL_AS_PLAIN);
    ck_assert_msg(plain.factor > 0.5 && plain.factor < 2, "%g", plain.factor);
    ck_assert(plain.factor == again.factor && plain.quantile == again.quantile && plain.rms == again.rms);
    for (int64_t k = 0; k < attest_tensor_count(o); k++)
        ((float *)o->data)[k] = (float)(attest_load(t, k) + 12 * (attest_load(o, k) - attest_load(t, k)));
    const attest_typical worse = measure(&s, lines[_i].numerics);
    ck_assert_uint_eq(worse.state, ATTEST_TYPICAL_WORSE);
    ck_assert_msg(worse.factor > 8 * plain.factor && worse.factor < 13 * plain.factor, "%g", worse.factor);
    ck_assert(worse.quantile == plain.quantile);
    close_scene(&s);
    close_scene(&exact);
}
END_TEST

/* The truth itself, in double, against float sums over many keys. */
START_TEST(better)
{
    scene s;
    open_scene(&s, "variant=linear-elu n=8 m=3000 d=8 e=8 family=positive", NULL);
    const attest_numerics direct = { .struct_size = sizeof direct,
                                     .schedule = ATTEST_SCHEDULE_DIRECT,
                                     .exp_error = 0x1p-23 };
    give(&s, O);
    const attest_typical t = measure(&s, &direct);
    ck_assert_msg(t.state == ATTEST_TYPICAL_BETTER, "factor %g", t.factor);
    close_scene(&s);
}
END_TEST

START_TEST(not_modelled)
{
    static const struct {
        const char *line, *why;
        attest_numerics numerics;
    } rows[] = {
        { "variant=softmax n=20 d=8 family=ones", "repeats numbers", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax n=20 d=8 family=dyadic", "repeats numbers", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=linear-elu n=1 d=44 e=93 in=bf16 out=f32 family=half-peak", /* no other key: q and k are 0 */
          "tensor q repeats one number",
          { .schedule = ATTEST_SCHEDULE_DIRECT, .exp_error = 0x1p-23 } },
        { "variant=softmax n=3 d=8 e=4", "12 elements", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax n=40 m=1 d=8", "makes no error", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax n=20 d=8 in=f64", "acc=f32", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax n=20 d=8 family=subnormal", "may be flushed", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=taylor:2 n=20 d=8", "weight=taylor:2", { .schedule = ATTEST_SCHEDULE_UNKNOWN } },
    };
    scene s;
    open_scene(&s, rows[_i].line, NULL);
    give(&s, O);
    const attest_typical t = measure(&s, &rows[_i].numerics);
    ck_assert_uint_eq(t.state, ATTEST_TYPICAL_NOT_MODELLED);
    ck_assert_msg(strstr(t.why, rows[_i].why) != NULL, "'%s' says nothing of '%s'", t.why, rows[_i].why);
    ck_assert(isnan(t.factor) && isnan(t.rms) && isnan(t.quantile));
    close_scene(&s);
}
END_TEST

START_TEST(not_finite)
{
    scene s;
    open_scene(&s, "variant=softmax n=20 d=8", NULL);
    ((float *)give_plain(&s, &two_pass, 1)->data)[17] = NAN;
    const attest_typical t = measure(&s, &two_pass);
    ck_assert_uint_eq(t.state, ATTEST_TYPICAL_NOT_MODELLED);
    ck_assert_str_eq(t.why, "an element of o is not finite");
    close_scene(&s);
}
END_TEST

Suite *suite_typical(void)
{
    Suite *suite = suite_create("typical");
    TCase *tc = tcase_create("typical");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, larger_and_smaller, 0, sizeof lines / sizeof lines[0]);
    tcase_add_test(tc, better);
    tcase_add_loop_test(tc, not_modelled, 0, 8);
    tcase_add_test(tc, not_finite);
    suite_add_tcase(suite, tc);
    return suite;
}

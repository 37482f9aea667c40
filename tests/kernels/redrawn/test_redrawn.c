/* test_redrawn.c - to nearest a redrawn kernel has the bits of the kernel that it is made of; drawn, its roundings have
 * the mean and the variance that redrawn.h says; the same seed gives the same bits; what is not modelled says why. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/library/call.h"
#include "kernels/library/registry.h"
#include "kernels/redrawn/redrawn.h"
#include "props/draw/draw.h"

Suite *suite_redrawn(void);

typedef struct scene {
    attest_case c;
    attest_bundle *inputs, *outputs;
    attest_tensor *o;
} scene;

static void ok(attest_status status, const attest_error *err)
{
    ck_assert_msg(status == ATTEST_OK, "status %d: %s", (int)status, err->text);
}

static scene open_scene(const char *line)
{
    scene s;
    attest_error err = { "" };
    ok(attest_case_parse(&s.c, line, NULL, NULL, &err), &err);
    ok(attest_bundle_new(&s.inputs, &err), &err);
    ok(attest_draw_missing(s.inputs, &s.c, 0, 0, &err), &err);
    ok(attest_bundle_new(&s.outputs, &err), &err);
    ok(attest_bundle_add(s.outputs, &s.c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &s.o, &err),
       &err);
    return s;
}

static void close_scene(scene *s)
{
    attest_bundle_free(s->inputs);
    attest_bundle_free(s->outputs);
}

static const attest_kernel *builtin(const char *name)
{
    const attest_library *library = attest_builtin_library();
    for (uint32_t k = 0; k < library->kernel_count; k++)
        if (strcmp(library->kernels[k]->name, name) == 0)
            return library->kernels[k];
    ck_abort_msg("no kernel %s", name);
    return NULL;
}

/* o of the built-in kernel itself. */
static void run_builtin(scene *s, const attest_kernel *kernel)
{
    attest_view view;
    char why[256] = "";
    const attest_loaded own = attest_own(kernel);
    const size_t size = attest_kernel_workspace(own, &s->c.problem);
    void *workspace = malloc(size + 64);
    attest_bundle_view(s->inputs, &view);
    view.role[ATTEST_O] = s->o;
    ck_assert_msg(attest_kernel_run(own, &s->c.problem, &view, workspace, size, why, sizeof why) == ATTEST_OK, "%s",
                  why);
    free(workspace);
}

static void run_redrawn(scene *s, const attest_numerics *numerics, const unsigned char *wanted, uint64_t seed)
{
    attest_error err = { "" };
    attest_redrawn plain;
    ok(attest_redrawn_find(&plain, &s->c.problem, numerics, &err), &err);
    ok(attest_redrawn_run(&plain, s->inputs, s->o, wanted, seed, &err), &err);
}

/* No exponential among their steps: bits are equal. */
static const struct {
    const char *kernel, *line;
} same[] = {
    { "taylor-direct-f32", "variant=taylor:3 mask=causal n=40 d=8 e=5 hq=2 hkv=1" },
    { "taylor-direct-f32", "variant=linear-relu n=33 d=8 in=bf16 out=f32 window=9 mask=causal" },
    { "taylor-direct-f32", "variant=taylor:3 bias=full mask=causal n=40 d=8 e=5 hq=2 hkv=1" },
    { "linear-recurrent-f32", "variant=gla mask=causal n=70 d=8 e=12 b=2" },
    { "linear-recurrent-f32", "variant=linear-cos n=31 m=40 d=4 state=draw" },
    { "taylor-recurrent-f32", "variant=taylor:2 mask=causal n=50 d=4 lens=draw" },
    { "taylor-chunk-f32", "variant=retnet mask=causal n=100 d=8 chunk=16" },
    { "delta-recurrent-f32", "variant=gdn mask=causal n=60 d=8 e=9 hq=2" },
    { "delta-chunk-f32", "variant=deltanet mask=causal n=60 d=8 chunk=16" },
    { "delta-parallel-f32", "variant=deltanet mask=causal n=60 d=8" },
};

START_TEST(nearest_is_the_kernel)
{
    const attest_kernel *kernel = builtin(same[_i].kernel);
    scene s = open_scene(same[_i].line);
    run_builtin(&s, kernel);
    const size_t bytes = attest_tensor_bytes(s.o);
    void *want = malloc(bytes);
    memcpy(want, s.o->data, bytes);
    memset(s.o->data, 0, bytes);
    run_redrawn(&s, kernel->numerics, NULL, 0);
    ck_assert_msg(memcmp(want, s.o->data, bytes) == 0, "%s: %s", same[_i].kernel, same[_i].line);
    run_redrawn(&s, kernel->numerics, NULL, 1);
    ck_assert_msg(memcmp(want, s.o->data, bytes) != 0, "nothing is drawn: %s", same[_i].line);
    free(want);
    close_scene(&s);
}
END_TEST

/* exp is correctly rounded here and nearly so in the C library: an ulp or two of weights. */
START_TEST(nearest_is_near)
{
    static const char *const kernels[] = { "softmax-two-pass-f32", "softmax-online-f32", "softmax-split-f32" };
    scene s = open_scene("variant=softmax mask=causal n=80 d=8 splits=3");
    const attest_kernel *kernel = builtin(kernels[_i]);
    run_builtin(&s, kernel);
    double want[80 * 8];
    for (int64_t k = 0; k < 80 * 8; k++)
        want[k] = attest_load(s.o, k);
    run_redrawn(&s, kernel->numerics, NULL, 0);
    for (int64_t k = 0; k < 80 * 8; k++)
        ck_assert_double_eq_tol(attest_load(s.o, k), want[k], 0x1p-22);
    close_scene(&s);
}
END_TEST

/* Two keys of weight 1: o = (1 + v)/2 with one rounding, that of the sum: v is a quarter of the way from one float to
 * the next, and so many times it goes up. */
START_TEST(one_rounding)
{
    scene s = open_scene("variant=linear-relu n=1 m=2 d=1 e=1 scale=1");
    const attest_kernel *kernel = builtin("taylor-direct-f32");
    const float v[2] = { 1, 0x1.000002p-2f }; /* their sum: 1.25 + 2^-25 */
    int up = 0;
    for (int64_t j = 0; j < 2; j++) {
        ((float *)attest_bundle_role(s.inputs, ATTEST_Q)->data)[0] = 1;
        ((float *)attest_bundle_role(s.inputs, ATTEST_K)->data)[j] = 1;
        ((float *)attest_bundle_role(s.inputs, ATTEST_V)->data)[j] = v[j];
    }
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        run_redrawn(&s, kernel->numerics, NULL, seed);
        const double o = attest_load(s.o, 0);
        ck_assert(o == 0.625 || o == 0.625 + 0x1p-24);
        up += o > 0.625;
    }
    ck_assert_msg(up > 1000 - 140 && up < 1000 + 140, "%d of 4000", up); /* 5 deviations */
    close_scene(&s);
}
END_TEST

/* Errors of a long sum: mean 0, and twice the variance of rounding to nearest. */
START_TEST(mean_and_variance)
{
    enum { SEEDS = 200, COUNT = 32 };
    scene s = open_scene("variant=linear-elu n=4 m=2000 d=8 e=8");
    const attest_kernel *kernel = builtin("taylor-direct-f32");
    static double got[SEEDS][COUNT];
    double truth[COUNT] = { 0 }, drawn = 0, nearest = 0;
    for (int k = 0; k < SEEDS; k++) {
        run_redrawn(&s, kernel->numerics, NULL, (uint64_t)k + 1);
        for (int x = 0; x < COUNT; x++)
            truth[x] += (got[k][x] = attest_load(s.o, x)) / SEEDS;
    }
    for (int k = 0; k < SEEDS; k++)
        for (int x = 0; x < COUNT; x++)
            drawn += pow(got[k][x] - truth[x], 2) / (SEEDS * COUNT);
    run_redrawn(&s, kernel->numerics, NULL, 0);
    for (int x = 0; x < COUNT; x++)
        nearest += pow(attest_load(s.o, x) - truth[x], 2) / COUNT;
    const double share = sqrt(nearest / drawn);
    ck_assert_msg(share > 0.5 && share < 1, "nearest is %g of drawn, about 0.71 expected", share);
    close_scene(&s);
}
END_TEST

/* Steps of a score are rounded to float beside compensated sums: of a bias of -1024 both kernels err alike. */
START_TEST(bias_beside_compensated)
{
    enum { SEEDS = 60, COUNT = 32 };
    scene s = open_scene("variant=softmax bias=shared n=8 m=2 d=2 e=4 family=edges");
    attest_numerics numerics = *builtin("softmax-two-pass-f32")->numerics;
    double spread[2] = { 0 };
    attest_tensor *bias = attest_bundle_role(s.inputs, ATTEST_BIAS);
    for (int64_t k = 0; k < attest_tensor_count(bias); k++)
        attest_store_bits(bias, k, attest_from_f64(bias->dtype, -1024));
    for (int carried = 0; carried < 2; carried++) {
        double first[COUNT];
        numerics.compensated = carried ? ATTEST_YES : ATTEST_NO;
        for (int k = 0; k < SEEDS; k++) {
            run_redrawn(&s, &numerics, NULL, (uint64_t)k + 1);
            for (int x = 0; x < COUNT; x++) {
                first[x] = k == 0 ? attest_load(s.o, x) : first[x];
                spread[carried] += pow(attest_load(s.o, x) - first[x], 2);
            }
        }
    }
    ck_assert_msg(sqrt(spread[1] / (SEEDS * COUNT)) > 0x1p-20, "%g", spread[1]); /* weights: of 2^-14 */
    ck_assert_msg(sqrt(spread[1] / spread[0]) > 0.5 && sqrt(spread[1] / spread[0]) < 2, "%g", spread[1] / spread[0]);
    close_scene(&s);
}
END_TEST

START_TEST(same_seed_wanted_rows)
{
    scene s = open_scene("variant=softmax mask=causal n=20 d=4 hq=2");
    const attest_kernel *kernel = builtin("softmax-online-f32");
    unsigned char wanted[40] = { 0 };
    double first[160];
    run_redrawn(&s, kernel->numerics, NULL, 7);
    for (int64_t k = 0; k < 160; k++)
        first[k] = attest_load(s.o, k);
    run_redrawn(&s, kernel->numerics, NULL, 7);
    for (int64_t k = 0; k < 160; k++)
        ck_assert(attest_load(s.o, k) == first[k]);
    memset(s.o->data, 0, attest_tensor_bytes(s.o));
    wanted[25] = 1;
    run_redrawn(&s, kernel->numerics, wanted, 7);
    for (int64_t k = 0; k < 160; k++)
        ck_assert((attest_load(s.o, k) != 0) == (k / 4 == 25));
    close_scene(&s);
}
END_TEST

/* Fewer digits are taken as declared: about 2^13 times the error at bf16's 8. */
START_TEST(declared_digits)
{
    scene s = open_scene("variant=linear-elu mask=causal n=100 d=8 e=8");
    attest_numerics numerics = *builtin("linear-recurrent-f32")->numerics;
    double want[800], wide = 0, narrow = 0;
    run_redrawn(&s, &numerics, NULL, 0);
    for (int64_t k = 0; k < 800; k++)
        want[k] = attest_load(s.o, k);
    run_redrawn(&s, &numerics, NULL, 3);
    for (int64_t k = 0; k < 800; k++)
        wide += pow(attest_load(s.o, k) - want[k], 2);
    numerics.state_dtype = 1 + ATTEST_BF16;
    run_redrawn(&s, &numerics, NULL, 3);
    for (int64_t k = 0; k < 800; k++)
        narrow += pow(attest_load(s.o, k) - want[k], 2);
    ck_assert_msg(sqrt(narrow / wide) > 0x1p12 && sqrt(narrow / wide) < 0x1p18, "%g", sqrt(narrow / wide));
    close_scene(&s);
}
END_TEST

START_TEST(not_modelled)
{
    static const struct {
        const char *line, *why;
        attest_numerics numerics;
    } rows[] = {
        { "variant=softmax in=f64", "only acc=f32", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax", "truncated", { .schedule = ATTEST_SCHEDULE_ONLINE, .acc_truncates = ATTEST_YES } },
        { "variant=softmax", "narrow type", { .schedule = ATTEST_SCHEDULE_ONLINE, .score_dtype = 1 + ATTEST_F16 } },
        { "variant=taylor:2", "no plain kernel", { .schedule = ATTEST_SCHEDULE_SPLIT, .compensated = ATTEST_YES } },
        { "variant=linear-elu", "compensated", { .schedule = ATTEST_SCHEDULE_RECURRENT, .compensated = ATTEST_YES } },
        { "variant=softmax cap=2", "compensated", { .schedule = ATTEST_SCHEDULE_ONLINE, .compensated = ATTEST_YES } },
        { "variant=taylor:2", "weight=taylor:2", { .schedule = ATTEST_SCHEDULE_UNKNOWN } },
        { "variant=softmax", "quotients", { .schedule = ATTEST_SCHEDULE_TWO_PASS, .div_error = 0x1p-12 } },
        { "variant=softmax", "scale", { .schedule = ATTEST_SCHEDULE_TWO_PASS, .scale_dtype = 1 + ATTEST_BF16 } },
        { "variant=softmax cap=2", "tanh", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=softmax cap=2", "tanh", { .schedule = ATTEST_SCHEDULE_TWO_PASS, .tanh_error = 0x1p-16 } },
        { "variant=softmax",
          "divided",
          { .schedule = ATTEST_SCHEDULE_TWO_PASS, .division = ATTEST_DIVISION_THEN_CAST } },
        { "variant=softmax", "divided", { .schedule = ATTEST_SCHEDULE_ONLINE, .division = ATTEST_DIVISION_RUNNING } },
        { "variant=softmax in=bf16 p=bf16", "divided", { .schedule = ATTEST_SCHEDULE_TWO_PASS } },
        { "variant=retnet", "logarithms", { .schedule = ATTEST_SCHEDULE_RECURRENT } },
        { "variant=efla", "1 - e^-x", { .schedule = ATTEST_SCHEDULE_RECURRENT } },
        { "variant=softmax splits=2",
          "logarithm",
          { .schedule = ATTEST_SCHEDULE_SPLIT, .log_error = 0x1p-14, .division = 1 } },
        { "variant=softmax", "sigmoid", { .schedule = ATTEST_SCHEDULE_TWO_PASS, .sigmoid_error = 0x1p-14 } },
        { "variant=linear-elu", "expm1", { .schedule = ATTEST_SCHEDULE_RECURRENT } },
    };
    scene s = open_scene(rows[_i].line);
    attest_error err = { "" };
    attest_redrawn plain;
    ck_assert_int_eq(attest_redrawn_find(&plain, &s.c.problem, &rows[_i].numerics, &err), ATTEST_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, rows[_i].why) != NULL, "'%s' says nothing of '%s'", err.text, rows[_i].why);
    close_scene(&s);
}
END_TEST

Suite *suite_redrawn(void)
{
    Suite *suite = suite_create("redrawn");
    TCase *tc = tcase_create("redrawn");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, nearest_is_the_kernel, 0, sizeof same / sizeof same[0]);
    tcase_add_loop_test(tc, nearest_is_near, 0, 3);
    tcase_add_test(tc, one_rounding);
    tcase_add_test(tc, mean_and_variance);
    tcase_add_test(tc, bias_beside_compensated);
    tcase_add_test(tc, same_seed_wanted_rows);
    tcase_add_test(tc, declared_digits);
    tcase_add_loop_test(tc, not_modelled, 0, 19);
    suite_add_tcase(suite, tc);
    return suite;
}

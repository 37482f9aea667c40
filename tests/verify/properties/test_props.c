/* test_props.c - props/trial, relation and the axis properties on a kernel that is a callback; verify/props_run on the
 * built-in kernels: threads, vacuous properties, broken kernels, bad words.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "props/properties/relation.h"
#include "tests/memory_use.h"
#include "verify/properties/props_print.h"

Suite *suite_props(void);

static void setup(void) { setenv("ATTEST_WORKER", ATTEST_TEST_BUILD "/attest-worker", 1); }

/* ---- a kernel in doubles ----------------------------------------------------------------------------------------- */

/* o = sum_j (1 + <q,k_j>) v_j / m, with one fault: what the rows, entries, heads, keys must not depend on. */
enum { SOUND, BY_ROW, BY_ENTRY, BY_HEAD, BY_GROUP, BY_KEY, BY_CHANNEL, BY_VALUE_CHANNEL, BY_SIGN, REFUSES, CRASHES };

typedef struct fake {
    int fault;
    double bound; /* of every element; 0: no bounds */
    int runs;
} fake;

static int fake_supports(void *context, const attest_problem *p)
{
    (void)p;
    return ((fake *)context)->fault != REFUSES;
}

static double fake_element(const fake *f, const attest_problem *p, const attest_bundle *in, int64_t b, int64_t h,
                           int64_t i, int64_t c)
{
    const attest_tensor *q = attest_bundle_role(in, ATTEST_Q), *k = attest_bundle_role(in, ATTEST_K);
    const attest_tensor *v = attest_bundle_role(in, ATTEST_V);
    const int64_t g = f->fault == BY_GROUP ? h % p->hkv : attest_kv_head(p, h);
    double sum = 0;
    for (int64_t j = 0; j < p->m; j++) {
        double s = 1;
        for (int64_t x = 0; x < p->d; x++) {
            const double y = attest_load(q, attest_offset(q, b, h, i, x));
            s += y * attest_load(k, attest_offset(k, b, g, j, x)) * (f->fault == BY_CHANNEL ? (double)(x + 1) : 1);
            s += f->fault == BY_SIGN ? y : 0;
        }
        sum += s * attest_load(v, attest_offset(v, b, g, j, c)) * (f->fault == BY_KEY ? (double)(j + 1) : 1);
    }
    sum += f->fault == BY_ROW ? (double)i : 0;
    sum += f->fault == BY_ENTRY ? (double)b : 0;
    sum += f->fault == BY_HEAD ? (double)h : 0;
    sum += f->fault == BY_VALUE_CHANNEL ? (double)c : 0;
    return sum / (double)p->m;
}

static attest_status fake_run(void *context, const attest_case *c, const attest_bundle *inputs, uint32_t wanted,
                              int strided, attest_bundle **outputs, attest_prop_run *run, attest_error *err)
{
    fake *f = context;
    attest_status status = ATTEST_OK;
    attest_tensor *o;
    const attest_problem *p = &c->problem;
    (void)wanted;
    (void)strided;
    *outputs = NULL;
    run->end = ATTEST_PROP_DONE;
    if (f->fault == CRASHES && f->runs++ > 0) {
        run->end = ATTEST_PROP_CRASH;
        strcpy(run->why, "signal 11");
        return ATTEST_OK;
    }
    ATTEST_TRY(attest_bundle_new(outputs, err));
    ATTEST_TRY(attest_bundle_add(*outputs, p, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0, &o, err));
    for (int64_t x = 0; x < attest_tensor_count(o); x++) {
        const int64_t ch = x % p->e, i = x / p->e % p->n, h = x / (p->e * p->n) % p->hq, b = x / (p->e * p->n * p->hq);
        attest_store_bits(o, x, attest_from_f64(o->dtype, fake_element(f, p, inputs, b, h, i, ch)));
    }
out:
    return status;
}

/* The same bound of all; no element is farther from the truth than half of it. */
static attest_status fake_bounds(void *context, double *bound, double *ratio, const attest_case *c,
                                 const attest_bundle *inputs, attest_tensor_id id, const attest_tensor *got,
                                 attest_error *err)
{
    (void)c;
    (void)inputs;
    (void)id;
    (void)err;
    for (int64_t x = 0; x < attest_tensor_count(got); x++) {
        bound[x] = ((fake *)context)->bound;
        if (ratio)
            ratio[x] = 0.5;
    }
    return ATTEST_OK;
}

/* What `property` says of the fake kernel on `line`. */
static attest_finding ask_case(const attest_property *property, fake f, const char *line, uint32_t flags,
                               const attest_property *violated, uint32_t number)
{
    attest_error err;
    attest_case c;
    attest_bundle *inputs;
    attest_trial trial;
    attest_finding found = { 0 };
    const attest_prop_host host = { &f, fake_supports, fake_run, f.bound > 0 ? fake_bounds : NULL };
    const attest_prop_kernel kernel = { .flags = flags, .outputs = ATTEST_GIVES_O };
    ck_assert_msg(attest_case_parse(&c, line, NULL, NULL, &err) == ATTEST_OK, "%s", err.text);
    ck_assert(property->applies(&c.problem, &kernel));
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert(attest_draw_missing(inputs, &c, number, 0, &err) == ATTEST_OK);
    ck_assert(attest_trial_init(&trial, &host, &kernel, &c, number, inputs, violated, &err) == ATTEST_OK);
    ck_assert(property->check(&found, &trial, &err) == ATTEST_OK);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
    return found;
}

/* The first of eight cases that breaks it, or the last: a permutation may leave in place what a fault is about. */
static attest_finding ask(const attest_property *property, fake f, const char *line, uint32_t flags,
                          const attest_property *violated)
{
    attest_finding found = { 0 };
    for (uint32_t number = 0; number < 8 && !found.broken; number++)
        found = ask_case(property, f, line, flags, violated, number);
    return found;
}

#define BOTH (ATTEST_DETERMINISTIC | ATTEST_BATCH_INVARIANT | ATTEST_SERIAL_SUMS)

/* Integers, so that the sums are exact in any order and rounding cannot matter. */
static const char shape[] = "variant=linear b=3 hq=4 hkv=2 n=3 m=4 d=3 e=2 scale=1 family=integers";

static const struct {
    const char *property;
    int fault;
} axis_faults[] = {
    { "query-permutation", BY_ROW },    { "batch-permutation", BY_ENTRY }, { "batch-alone", BY_ENTRY },
    { "heads-alone", BY_HEAD },         { "shared-heads", BY_GROUP },      { "key-permutation", BY_KEY },
    { "channel-rotation", BY_CHANNEL }, { "zero-channels", BY_SIGN },      { "value-channels", BY_VALUE_CHANNEL },
    { "sign-flip", BY_SIGN },
};

/* A sound kernel keeps every axis property; each fault breaks the property that is about it. */
START_TEST(axis_properties_see_their_faults)
{
    for (size_t k = 0; k < sizeof axis_faults / sizeof axis_faults[0]; k++) {
        const attest_property *property = attest_property_find(axis_faults[k].property);
        ck_assert_ptr_nonnull(property);
        attest_finding found = ask(property, (fake){ .bound = 0x1p-18 }, shape, BOTH, NULL);
        ck_assert_msg(!found.broken && found.compared > 0, "%s: %s", property->name, found.what);
        if (axis_faults[k].fault == BY_SIGN && strcmp(property->name, "zero-channels") == 0)
            continue; /* a channel of zeros has no sign */
        found = ask(property, (fake){ axis_faults[k].fault, 0x1p-18, 0 }, shape, BOTH, NULL);
        ck_assert_msg(found.broken && found.ratio > 1, "%s holds", property->name);
        found = ask(property, (fake){ .bound = 0x1p-18 }, shape, BOTH, property);
        ck_assert_msg(found.broken, "%s does not see its violation", property->name);
    }
}
END_TEST

/* Without flags that promise bits, and without bounds, nothing is said; with bounds the bounds decide. */
START_TEST(bits_are_asked_of_who_promises_them)
{
    const attest_property *property = attest_property_find("batch-alone");
    ck_assert_int_eq(ask(property, (fake){ .bound = 0 }, shape, 0, NULL).compared, 0);
    ck_assert(!ask(property, (fake){ BY_ENTRY, 100, 0 }, shape, 0, NULL).broken);
    ck_assert(ask(property, (fake){ BY_ENTRY, 100, 0 }, shape, BOTH, NULL).broken);
    ck_assert_int_eq(ask(property, (fake){ .fault = REFUSES }, shape, BOTH, NULL).compared, 0);
    const attest_finding crash = ask(property, (fake){ .fault = CRASHES }, shape, BOTH, NULL);
    ck_assert(crash.broken && crash.end == ATTEST_PROP_CRASH && strstr(crash.what, "signal 11"));
}
END_TEST

START_TEST(one_comparison)
{
    const attest_tensor_id o = { ATTEST_KIND_ROLE, ATTEST_O };
    const int64_t at[4] = { 0, 1, 2, 3 };
    static const struct {
        double got, want, tolerance;
        int compared, broken;
    } cases[] = {
        { 1, 1, -1, 1, 0 },
        { 1, 1 + 0x1p-52, -1, 1, 1 },
        { 0.0, -0.0, -1, 1, 0 },
        { NAN, NAN, -1, 1, 0 },
        { NAN, 1, -1, 1, 1 },
        { 1, 1.5, 0.5, 1, 0 },
        { 1, 1.5, 0.49, 1, 1 },
        { 1, 1.5, NAN, 0, 0 },
        { NAN, 1, 10, 1, 1 },
        { INFINITY, 1, 10, 1, 1 },
        { 1, 1, 0, 1, 0 },
        { 1, 2, 0, 1, 1 },
        { INFINITY, INFINITY, 1, 1, 0 },
        { -INFINITY, INFINITY, 1, 1, 1 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        attest_finding found = { 0 };
        attest_finding_add(&found, o, at, cases[k].got, cases[k].want, cases[k].tolerance);
        ck_assert_int_eq(found.compared, cases[k].compared);
        ck_assert_msg(found.broken == cases[k].broken, "comparison %zu", k);
        ck_assert(!found.broken || strstr(found.what, "o[0,1,2,3]"));
    }
}
END_TEST

START_TEST(a_shuffle_is_a_permutation_and_shrinks)
{
    attest_trial trial = { .number = 5 };
    attest_relation r = { .bits = 1 };
    attest_error err;
    int64_t order[9];
    const attest_property *property = attest_property_find("key-permutation");
    int moved = 0;
    for (int64_t size = 9; size >= 8; size--) {
        int64_t seen = 0, at = 0;
        ck_assert(attest_relation_shuffle(&r, ATTEST_LETTER_M, size, &trial, property, &err) == ATTEST_OK);
        for (int64_t x = 0; x < size; x++) {
            seen |= (int64_t)1 << r.from[ATTEST_LETTER_M][x];
            moved += r.from[ATTEST_LETTER_M][x] != x;
            if (size == 9)
                order[x] = r.from[ATTEST_LETTER_M][x];
        }
        ck_assert_int_eq(seen, ((int64_t)1 << size) - 1);
        for (int64_t x = 0; size == 8 && x < 9; x++) /* without index 8 the others stand as before */
            if (order[x] != 8)
                ck_assert_int_eq(r.from[ATTEST_LETTER_M][at++], order[x]);
    }
    ck_assert_int_gt(moved, 4);
    attest_relation_clear(&r);
}
END_TEST

/* Where the same value overflows one run's format, an infinity there is no finding; elsewhere it is. */
START_TEST(infinities_by_rounding)
{
    ck_assert(attest_may_overflow(ATTEST_F16, -65519, 2));
    ck_assert(!attest_may_overflow(ATTEST_F16, 65500, 2));
    ck_assert(!attest_may_overflow(ATTEST_F32, 65519, 2));
    ck_assert_uint_eq(attest_flip_sign(ATTEST_BF16, 0x3f80), 0xbf80);
    ck_assert_uint_eq(attest_flip_sign(ATTEST_F64, 0xbff0000000000000u), 0x3ff0000000000000u);
}
END_TEST

/* A trial of the fake kernel, asked for bounds, and given back. */
static void one_trial(void)
{
    attest_error err;
    attest_case c;
    attest_bundle *inputs;
    attest_trial trial;
    const double *bound;
    fake f = { .bound = 1 };
    const attest_prop_host host = { &f, fake_supports, fake_run, fake_bounds };
    const attest_prop_kernel kernel = { .outputs = ATTEST_GIVES_O };
    ck_assert(attest_case_parse(&c, "n=9 d=3", NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_bundle_new(&inputs, &err) == ATTEST_OK);
    ck_assert(attest_draw_missing(inputs, &c, 0, 0, &err) == ATTEST_OK);
    ck_assert(attest_trial_init(&trial, &host, &kernel, &c, 0, inputs, NULL, &err) == ATTEST_OK);
    ck_assert(attest_trial_bounds(&bound, &trial, ATTEST_O, &err) == ATTEST_OK && bound[8] == 1);
    ck_assert(attest_trial_bounds(&bound, &trial, ATTEST_LSE, &err) == ATTEST_OK && !bound);
    attest_trial_clear(&trial);
    attest_bundle_free(inputs);
}

START_TEST(a_trial_gives_its_memory_back) { ck_assert(memory_stays(one_trial)); }
END_TEST

/* No bounds at hand: none are made up; and a relation demands bits until it says otherwise. */
START_TEST(no_bounds_and_bits_by_default)
{
    attest_trial trial = { .number = 1 };
    attest_error err;
    const attest_prop_host host = { NULL, fake_supports, fake_run, NULL };
    const double *bound;
    attest_relation r;
    trial.host = &host;
    ck_assert(attest_bundle_new(&trial.outputs, &err) == ATTEST_OK);
    ck_assert(attest_case_parse(&trial.c, "n=2 d=1", NULL, NULL, &err) == ATTEST_OK);
    ck_assert(attest_bundle_add(trial.outputs, &trial.c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0,
                                NULL, &err) == ATTEST_OK);
    ck_assert(attest_trial_bounds(&bound, &trial, ATTEST_O, &err) == ATTEST_OK);
    ck_assert_ptr_null(bound);
    attest_relation_init(&r, &trial);
    ck_assert(r.bits && r.outputs != 0);
    attest_trial_clear(&trial);
}
END_TEST

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static attest_props_request request_of(const char *kernel, const char *property, long cases, long jobs)
{
    return (attest_props_request){ .kernel_glob = kernel,
                                   .property_glob = property,
                                   .program = "attest",
                                   .seed = 1,
                                   .cases = cases,
                                   .jobs = jobs,
                                   .timeout_s = 10,
                                   .reference = 1 };
}

START_TEST(numbers_do_not_depend_on_threads)
{
    attest_props_result result[2];
    attest_error err;
    for (int k = 0; k < 2; k++) {
        const attest_props_request request = request_of("softmax-*f32", "*value*", 12, k + 1);
        ck_assert_msg(attest_props_run(&result[k], &request, &err) == ATTEST_OK, "%s", err.text);
        ck_assert_uint_eq(result[k].failure_count, 0);
        ck_assert_int_gt(result[k].elements, 100);
        ck_assert_int_eq(result[k].cases - result[k].edges - result[k].redraws, 12);
        ck_assert(result[k].edges > 0 && result[k].redraws > 0);
    }
    ck_assert_int_eq(result[0].cases, result[1].cases);
    ck_assert_int_eq(result[0].elements, result[1].elements);
    ck_assert_int_eq(result[0].runs, result[1].runs);
    ck_assert_mem_eq(result[0].label, result[1].label, attest_label_count * sizeof *result[0].label);
    for (size_t k = 0; k < attest_property_count; k++) {
        ck_assert_int_eq(result[0].count[k].compared, result[1].count[k].compared);
        ck_assert(result[0].count[k].ratio == result[1].count[k].ratio);
        ck_assert_int_eq(result[0].count[k].planted, result[1].count[k].planted);
        ck_assert_int_ne(result[0].count[k].planted, ATTEST_PLANTED_MISSED);
    }
    attest_props_result_clear(&result[0]);
    attest_props_result_clear(&result[1]);
}
END_TEST

/* What a property knows of a kernel is what the kernel says of itself. */
START_TEST(kernels_as_they_declare)
{
    attest_subject subject = { .program = "attest" };
    attest_error err;
    ck_assert(attest_worker_start(&subject.worker, NULL, 10, &err) == ATTEST_OK);
    ck_assert(attest_find_kernel(&subject, "taylor-packed-f32", &err) == ATTEST_OK);
    const attest_kernel_facts *facts = attest_worker_kernel(subject.worker, subject.index);
    const attest_prop_kernel kernel = attest_props_kernel(&subject);
    ck_assert(kernel.flags == facts->flags && kernel.flags & ATTEST_PACKED_STATE);
    ck_assert(kernel.form == facts->form && kernel.outputs == facts->outputs);
    ck_assert(kernel.numerics.schedule == facts->numerics.schedule);
    attest_worker_free(subject.worker);
}
END_TEST

static attest_status compares_nothing(attest_finding *found, attest_trial *trial, attest_error *err)
{
    (void)trial;
    (void)err;
    found->compared = 1;
    return ATTEST_OK;
}

/* A property whose check was removed: it always passes, and is called vacuous. */
START_TEST(a_property_without_a_check_is_vacuous)
{
    attest_property hollow = *attest_property_find("batch-alone"), sound = hollow;
    const attest_property *const both[] = { &hollow, &sound };
    attest_props_request request = request_of("softmax-two-pass-f32", NULL, 24, 2);
    attest_props_result result;
    attest_error err;
    hollow.name = "hollow";
    hollow.check = compares_nothing;
    request.property = both;
    request.property_count = 2;
    ck_assert(attest_props_run(&result, &request, &err) == ATTEST_OK);
    ck_assert_int_eq(result.count[0].planted, ATTEST_PLANTED_MISSED);
    ck_assert_int_eq(result.count[1].planted, ATTEST_PLANTED_SEEN);
    ck_assert_int_eq(result.count[0].broken, 0);
    ck_assert_int_eq(attest_props_doubt(&result, 0).vacuous, 1);
    attest_props_result_clear(&result);
}
END_TEST

START_TEST(a_planted_defect_is_found)
{
    attest_props_request request = request_of("gqa-tile", NULL, 40, 2);
    attest_props_result result;
    attest_error err;
    request.library = ATTEST_TEST_BUILD "/defects/defects.so";
    request.reference = 0;
    ck_assert_msg(attest_props_run(&result, &request, &err) == ATTEST_OK, "%s", err.text);
    ck_assert_uint_gt(result.failure_count, 0);
    ck_assert_ptr_nonnull(strstr(result.failure[0].kernel, "gqa-tile"));
    ck_assert(result.failure[0].found.ratio > 1);
    attest_props_result_clear(&result);
}
END_TEST

/* A limit of time leaves cases out, and says how many; without one none is. */
START_TEST(cases_left_out_are_counted)
{
    attest_props_request request = request_of("softmax-two-pass-f32", NULL, 8, 2);
    attest_props_result result;
    attest_error err;
    int64_t whole = 0;
    for (int limited = 0; limited < 2; limited++) {
        request.seconds = limited ? 1e-9 : 0;
        ck_assert_msg(attest_props_run(&result, &request, &err) == ATTEST_OK, "%s", err.text);
        ck_assert(limited ? result.cases == 0 && result.left_out >= 8 : result.cases >= 8 && result.left_out == 0);
        whole = limited ? whole : result.cases - result.redraws;
        ck_assert(!limited || result.left_out >= whole);
        ck_assert_uint_eq(result.failure_count, 0);
        attest_props_result_clear(&result);
    }
}
END_TEST

START_TEST(words_that_match_nothing)
{
    static const struct {
        const char *kernel, *property, *word;
    } bad[] = { { "no-such-kernel", NULL, "--kernel" }, { NULL, "no-such-property", "--property" } };
    for (size_t k = 0; k < 2; k++) {
        const attest_props_request request = request_of(bad[k].kernel, bad[k].property, 1, 1);
        attest_props_result result;
        attest_error err;
        ck_assert(attest_props_run(&result, &request, &err) == ATTEST_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(err.text, bad[k].word));
        attest_props_result_clear(&result);
    }
}
END_TEST

Suite *suite_props(void)
{
    Suite *suite = suite_create("props");
    TCase *pure = tcase_create("pure"), *runs = tcase_create("runs");
    tcase_add_test(pure, axis_properties_see_their_faults);
    tcase_add_test(pure, bits_are_asked_of_who_promises_them);
    tcase_add_test(pure, one_comparison);
    tcase_add_test(pure, infinities_by_rounding);
    tcase_add_test(pure, a_trial_gives_its_memory_back);
    tcase_add_test(pure, no_bounds_and_bits_by_default);
    tcase_add_test(pure, a_shuffle_is_a_permutation_and_shrinks);
    suite_add_tcase(suite, pure);
    tcase_add_checked_fixture(runs, setup, NULL);
    tcase_set_timeout(runs, 120);
    tcase_add_test(runs, kernels_as_they_declare);
    tcase_add_test(runs, numbers_do_not_depend_on_threads);
    tcase_add_test(runs, a_property_without_a_check_is_vacuous);
    tcase_add_test(runs, a_planted_defect_is_found);
    tcase_add_test(runs, cases_left_out_are_counted);
    tcase_add_test(runs, words_that_match_nothing);
    suite_add_tcase(suite, runs);
    return suite;
}

/* test_reruns.c - plain kernels whose roundings are drawn again, or that sum in another order, 50 times, and each of 16
 * orders after each: no regression; 8 times coarser sums: one. */
#include "kernels/hash.h"
#include "kernels/redrawn/redrawn.h"
#include "props/draw/draw.h"
#include "reference/reference.h"
#include "reports/diff/diff.h"
#include "tests/reports/report_cases.h"

Suite *suite_reruns(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

typedef struct kind {
    const char *line, *class;
    attest_schedule schedule;
} kind;
static const kind redrawn_kinds[] = {
    { "variant=softmax mask=causal n=24 d=8", "exp online f32", ATTEST_SCHEDULE_ONLINE },
    { "variant=softmax n=33 d=5", "exp online f32", ATTEST_SCHEDULE_ONLINE },
    { "variant=linear mask=causal n=48 d=6", "power recurrent f32", ATTEST_SCHEDULE_RECURRENT },
    { "variant=linear mask=causal n=12 d=4", "power recurrent f32", ATTEST_SCHEDULE_RECURRENT },
    { "variant=taylor:2 mask=causal n=24 d=3", "taylor recurrent f32", ATTEST_SCHEDULE_RECURRENT },
};
/* Most cases of two of these are exact where numerator and denominator are summed in one order. */
static const kind reordered_kinds[] = {
    { "variant=softmax n=9 d=4 family=ones", "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS },
    { "variant=softmax n=33 d=8 family=ones", "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS },
    { "variant=softmax n=5 d=2 m=1", "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS },
    { "variant=softmax n=33 d=8 family=repeat-max", "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS },
    { "variant=softmax n=33 d=5", "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS },
};
enum { KINDS = 5, SEEDS = 12, CASES = KINDS * SEEDS, RERUNS = 50, SPECIAL = 3 * SEEDS, KEYS = 320, ORDERS = 16 };
enum { DEPENDENT = 24 };

typedef struct subject {
    attest_bundle *inputs;
    attest_tensor truth; /* f64, [1,1,n,e] */
    attest_case c;
    kind k;
    char line[160]; /* with its seed */
    int seed;
    int both; /* the numerator is summed in that order too */
} subject;

static void prepare(subject *s, const kind *k, int seed)
{
    attest_error err = { "" };
    attest_truth *truth;
    attest_rounding_counts counts = { 0 };
    s->k = *k;
    s->seed = seed;
    s->both = 0;
    snprintf(s->line, sizeof s->line, "%s seed=%d", k->line, seed);
    MUST(attest_case_parse(&s->c, s->line, NULL, NULL, &err));
    MUST(attest_bundle_new(&s->inputs, &err));
    MUST(attest_draw_missing(s->inputs, &s->c, 0, 0, &err));
    MUST(attest_truth_new(&truth, &s->c.problem, s->inputs, ATTEST_ENGINE_AUTO, &err));
    MUST(attest_truth_rounded(&s->truth, truth, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, ATTEST_F64, &counts,
                              &err));
    attest_truth_free(truth);
}

static void clear(subject *s, int cases)
{
    for (int i = 0; i < cases; i++) {
        attest_bundle_free(s[i].inputs);
        free(s[i].truth.data);
    }
}

/* A plain kernel whose roundings are drawn by this seed, or one that sums in this order. */
typedef void computation(attest_tensor *o, const subject *s, uint64_t seed, int coarser);

static void redraw(attest_tensor *o, const subject *s, uint64_t seed, int coarser)
{
    attest_error err = { "" };
    attest_redrawn redrawn;
    const attest_numerics numerics = { .struct_size = sizeof numerics,
                                       .schedule = s->k.schedule,
                                       .acc_unit = coarser ? 0x1p-21 : 0x1p-24 };
    MUST(attest_redrawn_find(&redrawn, &s->c.problem, &numerics, &err));
    MUST(attest_redrawn_run(&redrawn, s->inputs, o, NULL, seed, &err));
}

/* 0: from the first to the last; 1: the other way round; else as drawn. */
static void order_of(int order[KEYS], int keys, uint64_t seed)
{
    for (int j = 0; j < keys; j++)
        order[j] = seed == 1 ? keys - 1 - j : j;
    for (int j = keys - 1; j > 0 && seed > 1; j--) {
        const int other = (int)(attest_mix64(seed * KEYS + (uint64_t)j) % (uint64_t)(j + 1)), was = order[j];
        order[j] = order[other];
        order[other] = was;
    }
}

/* x as an accumulator of three bits less holds it. */
static float kept(float x, int coarser)
{
    const float wide = x * 9;
    return coarser ? wide - (wide - x) : x;
}

/* The kernel of kernels/template, of one head and all keys, with the denominator summed in another order, or both. */
static void reorder(attest_tensor *o, const subject *s, uint64_t seed, int coarser)
{
    const attest_problem *p = &s->c.problem;
    const attest_tensor *q = attest_bundle_role(s->inputs, ATTEST_Q), *k = attest_bundle_role(s->inputs, ATTEST_K),
                        *v = attest_bundle_role(s->inputs, ATTEST_V);
    const int keys = (int)p->m;
    int order[KEYS];
    ck_assert_int_le(keys, KEYS);
    order_of(order, keys, seed);
    for (int64_t i = 0; i < p->n; i++) {
        float w[KEYS], most = -INFINITY, l = 0;
        for (int j = 0; j < keys; j++) {
            float dot = 0;
            for (int64_t c = 0; c < p->d; c++)
                dot += (float)attest_load(q, i * p->d + c) * (float)attest_load(k, j * p->d + c);
            w[j] = (float)p->scale * dot;
            most = fmaxf(most, w[j]);
        }
        for (int j = 0; j < keys; j++)
            w[j] = expf(w[j] - most);
        for (int j = 0; j < keys; j++)
            l = kept(l + w[order[j]], coarser);
        for (int64_t c = 0; c < p->e; c++) {
            float u = 0;
            for (int j = 0; j < keys; j++) {
                const int at = s->both ? order[j] : j;
                u = kept(u + w[at] * (float)attest_load(v, at * p->e + c), coarser);
            }
            ((float *)o->data)[i * p->e + c] = u / l;
        }
    }
}

static attest_result measure(const subject *s, computation *compute, uint64_t seed, int coarser)
{
    attest_tensor o = { .struct_size = sizeof o };
    attest_result r;
    double errors = 0, sizes = 0;
    const attest_family_info *family = attest_family_of(&s->c);
    attest_tensor_describe(&o, &s->c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    o.data = calloc(1, attest_tensor_bytes(&o));
    compute(&o, s, seed, coarser);
    for (int64_t i = 0; i < attest_tensor_count(&o); i++) {
        const double got = attest_load(&o, i), truth = attest_load(&s->truth, i);
        errors += (got - truth) * (got - truth);
        sizes += truth * truth;
    }
    attest_result_init(&r);
    r.verdict = ATTEST_PASS;
    r.norm_error = sqrt(errors / sizes);
    r.family_constant = family && family->constant;
    snprintf(r.family, sizeof r.family, "%s", family ? family->name : "");
    r.seed = s->seed;
    r.b = s->c.problem.b;
    r.hq = s->c.problem.hq;
    r.hkv = s->c.problem.hkv;
    r.n = s->c.problem.n;
    r.m = s->c.problem.m;
    r.d = s->c.problem.d;
    snprintf(r.kernel, sizeof r.kernel, "plain");
    snprintf(r.class, sizeof r.class, "%s", s->k.class);
    snprintf(r.out, sizeof r.out, "f32");
    snprintf(r.problem, sizeof r.problem, "%s", s->line);
    snprintf(r.outputs, sizeof r.outputs, "%016llx",
             (unsigned long long)attest_fnv(ATTEST_FNV_START, o.data, attest_tensor_bytes(&o)));
    free(o.data);
    return r;
}

static attest_results run_of(const subject *s, int cases, computation *compute, uint64_t seed, int coarser)
{
    attest_result r[CASES];
    for (int i = 0; i < cases; i++)
        r[i] = measure(&s[i], compute, seed, coarser);
    return list_of(r, (size_t)cases);
}

/* `now` beside an earlier run and beside its baseline: as many regressions, and the same shift of an error, which is
 * returned (NAN: no error moved). */
static double compare(const attest_results *then, const attest_baseline *baseline, const attest_results *now,
                      size_t regressions, int seed)
{
    attest_error err = { "" };
    attest_diff diff;
    double shift[2] = { NAN, NAN };
    for (int as_baseline = 0; as_baseline < 2; as_baseline++) {
        if (as_baseline)
            MUST(attest_diff_baseline(&diff, baseline, now, &err));
        else
            MUST(attest_diff_runs(&diff, then, now, &err));
        ck_assert_uint_eq(diff.compared, now->count);
        ck_assert_msg(diff.regressions == regressions, "seed %d, %s: %zu regressions, not %zu: %s", seed,
                      as_baseline ? "baseline" : "run", diff.regressions, regressions,
                      diff.count ? diff.change[0].text : "");
        for (size_t i = 0; i < diff.count; i++)
            shift[as_baseline] = fmax(shift[as_baseline], diff.change[i].shift);
        attest_diff_clear(&diff);
    }
    ck_assert(shift[0] == shift[1] || (isnan(shift[0]) && isnan(shift[1])));
    return shift[0];
}

START_TEST(reruns)
{
    attest_error err = { "" };
    subject s[CASES];
    attest_baseline baseline;
    double largest = 0;
    for (int i = 0; i < CASES; i++)
        prepare(&s[i], &redrawn_kinds[i / SEEDS], i % SEEDS);
    attest_results then = run_of(s, CASES, redraw, 1, 0);
    MUST(attest_baseline_of(&baseline, &then, "first", &err));
    for (int seed = 2; seed < 2 + RERUNS; seed++)
        for (int coarser = 0; coarser < 2; coarser++) {
            attest_results now = run_of(s, CASES, redraw, (uint64_t)seed, coarser);
            const double shift = compare(&then, &baseline, &now, coarser ? 3 : 0, seed);
            largest = coarser ? fmax(largest, shift) : largest;
            attest_results_clear(&now);
        }
    ck_assert_msg(largest > 2 && largest < 4, "8 times coarser: %g bits", largest);
    attest_baseline_clear(&baseline);
    attest_results_clear(&then);
    clear(s, CASES);
}
END_TEST

/* The denominator summed the other way round, and in 50 other orders, is none: neither where cases that were exact are
 * among others, nor where (_i = 1) there are no others; and back. */
START_TEST(reordered)
{
    attest_error err = { "" };
    subject s[CASES];
    attest_baseline baseline, other;
    const int cases = _i ? SPECIAL : CASES;
    for (int i = 0; i < CASES; i++)
        prepare(&s[i], &reordered_kinds[i / SEEDS], i % SEEDS);
    attest_results then = run_of(s, cases, reorder, 0, 0), coarse = run_of(s, cases, reorder, 0, 1);
    MUST(attest_baseline_of(&baseline, &then, "first", &err));
    for (int seed = 1; seed < 2 + RERUNS; seed++) {
        attest_results now = run_of(s, cases, reorder, (uint64_t)seed, 0);
        MUST(attest_baseline_of(&other, &now, "other", &err));
        compare(&then, &baseline, &now, 0, seed);
        compare(&now, &other, &then, 0, seed);
        if (!_i)
            compare(&now, &other, &coarse, 1, seed);
        attest_baseline_clear(&other);
        attest_results_clear(&now);
    }
    attest_baseline_clear(&baseline);
    attest_results_clear(&then);
    attest_results_clear(&coarse);
    clear(s, CASES);
}
END_TEST

/* Each of 16 orders after each: where all cases are apart, and where (_i = 1) they have the
 * same q and k, but for three keys. */
START_TEST(all_pairs)
{
    attest_error err = { "" };
    subject s[CASES];
    attest_results run[ORDERS];
    attest_baseline baseline;
    const int cases = _i ? DEPENDENT : CASES;
    char line[128];
    const kind dependent = { line, "exp two-pass f32", ATTEST_SCHEDULE_TWO_PASS };
    for (int i = 0; i < cases; i++) {
        snprintf(line, sizeof line, "variant=softmax n=3 m=%d d=4 e=%d family=ramp-down", 300 + i / 6, 4 + 4 * i);
        prepare(&s[i], _i ? &dependent : &reordered_kinds[i / SEEDS], _i ? 0 : i % SEEDS);
        s[i].both = _i;
    }
    for (int order = 0; order < ORDERS; order++)
        run[order] = run_of(s, cases, reorder, (uint64_t)order, 0);
    for (int then = 0; then < ORDERS; then++) {
        MUST(attest_baseline_of(&baseline, &run[then], "then", &err));
        for (int now = 0; now < ORDERS; now++)
            if (now != then)
                compare(&run[then], &baseline, &run[now], 0, now);
        attest_baseline_clear(&baseline);
    }
    for (int order = 0; order < ORDERS; order++)
        attest_results_clear(&run[order]);
    clear(s, cases);
}
END_TEST

Suite *suite_reruns(void)
{
    Suite *suite = suite_create("reruns");
    TCase *tests = tcase_create("reruns");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, reruns);
    tcase_add_loop_test(tests, reordered, 0, 2);
    tcase_add_loop_test(tests, all_pairs, 0, 2);
    suite_add_tcase(suite, tests);
    return suite;
}

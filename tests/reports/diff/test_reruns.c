/* test_reruns.c - plain kernels whose roundings are drawn again, 50 times: no regression; 8 times coarser sums: one. */
#include "kernels/redrawn/redrawn.h"
#include "props/draw/draw.h"
#include "reference/reference.h"
#include "reports/diff/diff.h"
#include "tests/reports/report_cases.h"

Suite *suite_reruns(void);

#define MUST(call) ck_assert_msg((call) == ATTEST_OK, "%s", err.text)

static const struct {
    const char *line, *class;
    attest_schedule schedule;
} kinds[] = {
    { "variant=softmax mask=causal n=24 d=8", "exp online f32", ATTEST_SCHEDULE_ONLINE },
    { "variant=softmax n=33 d=5", "exp online f32", ATTEST_SCHEDULE_ONLINE },
    { "variant=linear mask=causal n=48 d=6", "power recurrent f32", ATTEST_SCHEDULE_RECURRENT },
    { "variant=linear mask=causal n=12 d=4", "power recurrent f32", ATTEST_SCHEDULE_RECURRENT },
    { "variant=taylor:2 mask=causal n=24 d=3", "taylor recurrent f32", ATTEST_SCHEDULE_RECURRENT },
};
enum { KINDS = sizeof kinds / sizeof kinds[0], SEEDS = 12, CASES = KINDS * SEEDS, RERUNS = 50 };

typedef struct subject {
    attest_bundle *inputs;
    attest_tensor truth; /* f64, [1,1,n,e] */
    attest_case c;
} subject;

static void prepare(subject *s, int number)
{
    attest_error err = { "" };
    char line[256];
    attest_truth *truth;
    attest_rounding_counts counts = { 0 };
    snprintf(line, sizeof line, "%s seed=%d", kinds[number / SEEDS].line, number % SEEDS);
    MUST(attest_case_parse(&s->c, line, NULL, NULL, &err));
    MUST(attest_bundle_new(&s->inputs, &err));
    MUST(attest_draw_missing(s->inputs, &s->c, 0, 0, &err));
    MUST(attest_truth_new(&truth, &s->c.problem, s->inputs, ATTEST_ENGINE_AUTO, &err));
    MUST(attest_truth_rounded(&s->truth, truth, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, ATTEST_F64, &counts,
                              &err));
    attest_truth_free(truth);
}

/* The result of one run with this stream of roundings. */
static attest_result measure(const subject *s, int number, uint64_t seed, int coarser)
{
    attest_error err = { "" };
    attest_numerics numerics = { .struct_size = sizeof numerics,
                                 .schedule = kinds[number / SEEDS].schedule,
                                 .acc_unit = coarser ? 0x1p-21 : 0x1p-24 };
    attest_redrawn redrawn;
    attest_tensor o = { .struct_size = sizeof o };
    attest_result r;
    double errors = 0, sizes = 0;
    MUST(attest_redrawn_find(&redrawn, &s->c.problem, &numerics, &err));
    attest_tensor_describe(&o, &s->c.problem, (attest_tensor_id){ ATTEST_KIND_ROLE, ATTEST_O }, 0);
    o.data = calloc(1, attest_tensor_bytes(&o));
    MUST(attest_redrawn_run(&redrawn, s->inputs, &o, NULL, seed, &err));
    for (int64_t i = 0; i < attest_tensor_count(&o); i++) {
        const double got = attest_load(&o, i), truth = attest_load(&s->truth, i);
        errors += (got - truth) * (got - truth);
        sizes += truth * truth;
    }
    free(o.data);
    attest_result_init(&r);
    r.verdict = ATTEST_PASS;
    r.norm_error = sqrt(errors / sizes);
    snprintf(r.kernel, sizeof r.kernel, "plain");
    snprintf(r.class, sizeof r.class, "%s", kinds[number / SEEDS].class);
    snprintf(r.out, sizeof r.out, "f32");
    snprintf(r.problem, sizeof r.problem, "%s seed=%d", kinds[number / SEEDS].line, number % SEEDS);
    return r;
}

static attest_results run_of(const subject *s, uint64_t seed, int coarser)
{
    attest_result r[CASES];
    for (int i = 0; i < CASES; i++)
        r[i] = measure(&s[i], i, seed, coarser);
    return list_of(r, CASES);
}

START_TEST(reruns)
{
    attest_error err = { "" };
    subject s[CASES];
    attest_baseline baseline;
    attest_diff diff;
    double largest = 0;
    for (int i = 0; i < CASES; i++)
        prepare(&s[i], i);
    attest_results then = run_of(s, 1, 0);
    MUST(attest_baseline_of(&baseline, &then, "first", &err));
    for (uint64_t seed = 2; seed < 2 + RERUNS; seed++)
        for (int coarser = 0; coarser < 2; coarser++) {
            attest_results now = run_of(s, seed, coarser);
            for (int as_baseline = 0; as_baseline < 2; as_baseline++) {
                if (as_baseline)
                    MUST(attest_diff_baseline(&diff, &baseline, &now, &err));
                else
                    MUST(attest_diff_runs(&diff, &then, &now, &err));
                ck_assert_uint_eq(diff.compared, CASES);
                if (coarser)
                    ck_assert_msg(diff.regressions == 3, "seed %d: %zu of 3 classes are seen", (int)seed,
                                  diff.regressions);
                else
                    ck_assert_msg(diff.regressions == 0, "seed %d: %s", (int)seed, diff.change[0].text);
                for (size_t i = 0; coarser && i < diff.count; i++)
                    largest = fmax(largest, diff.change[i].shift);
                attest_diff_clear(&diff);
            }
            attest_results_clear(&now);
        }
    ck_assert_msg(largest > 2 && largest < 4, "8 times coarser: %g bits", largest);
    attest_baseline_clear(&baseline);
    attest_results_clear(&then);
    for (int i = 0; i < CASES; i++) {
        attest_bundle_free(s[i].inputs);
        free(s[i].truth.data);
    }
}
END_TEST

Suite *suite_reruns(void)
{
    Suite *suite = suite_create("reruns");
    TCase *tests = tcase_create("reruns");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, reruns);
    suite_add_tcase(suite, tests);
    return suite;
}

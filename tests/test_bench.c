/* test_bench.c - `attest bench`: rounds, medians and ratios on made-up samples; jobs and tables.  Nothing here depends
 * on how long something takes. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/yardstick.h"
#include "tests/ball_case.h"
#include "verify/bench_table.h"

Suite *suite_bench(void);

#define COUNT(array) (sizeof array / sizeof array[0])

/* ---- rounds and medians ------------------------------------------------------------------------------------------ */
START_TEST(medians_and_ratios_of_made_up_samples)
{
    const double odd[] = { 5, 1, 4, 2, 100 }, even[] = { 4, 1, 3, 10 }, half[] = { 10, 0.5, 8, 1, 25 };
    const attest_bench_spread a = attest_bench_time(odd, 5), b = attest_bench_time(even, 4);
    const attest_bench_spread r = attest_bench_ratio(odd, half, 5), none = attest_bench_time(odd, 0);
    ck_assert(a.median == 4 && a.least == 1 && a.most == 100);
    ck_assert(b.median == 3.5 && b.least == 1 && b.most == 10);
    ck_assert(r.median == 2 && r.least == 0.5 && r.most == 4); /* 0.5 2 0.5 2 4: of rounds, not of medians (0.5) */
    ck_assert(none.median != none.median && none.least != none.least);
    ck_assert(attest_bench_time(odd, ATTEST_BENCH_ROUNDS_MAX + 1).most != 0);
}
END_TEST

/* A clock that only the subjects move, and a log of who ran. */
typedef struct scene {
    double time, step[3]; /* of processor; on the wall everything takes twice as long */
    char log[400];
    int told, total, fails_at;
} scene;

typedef struct actor {
    scene *on;
    int number, runs;
} actor;

static double scene_wall(void *context) { return 2 * ((scene *)context)->time; }
static double scene_thread(void *context) { return ((scene *)context)->time; }

static void scene_told(void *context, int done, int total)
{
    scene *s = context;
    ck_assert_int_eq(done, s->told + 1);
    s->told = done;
    s->total = total;
}

static attest_status act(void *context, attest_error *err)
{
    actor *a = context;
    const size_t at = strlen(a->on->log);
    a->on->log[at] = (char)('a' + a->number);
    a->on->log[at + 1] = '\0';
    /* the first run is ten times slower */
    a->on->time += a->on->step[a->number] * (a->runs++ == 0 ? 10 : 1);
    return (int)at == a->on->fails_at ? attest_fail(err, ATTEST_KERNEL_ERROR, "made up") : ATTEST_OK;
}

START_TEST(rounds_take_turns)
{
    scene s = { .step = { 3, 0.5, 0.09 }, .fails_at = -1 };
    actor actors[3] = { { &s, 0, 0 }, { &s, 1, 0 }, { &s, 2, 0 } };
    double sample[3][2];
    attest_bench_subject subjects[3] = { { act, &actors[0], sample[0], 1, 0 }, { act, &actors[1], sample[1], 0, 0 },
                                         { act, &actors[2], sample[2], 0, 0 } };
    const attest_bench_clock clock = { scene_wall, scene_thread, scene_told, &s };
    attest_error err;
    ck_assert_int_eq(attest_bench_measure(subjects, 3, 2, 1, &clock, &err), ATTEST_OK);
    /* warm up: a once, b once (5 s are long), c twice (0.9 s is not); rounds: a once, b once, c 12 times twice */
    ck_assert_str_eq(s.log, "abcc"
                            "abcccccccccccccccccccccccc"
                            "abcccccccccccccccccccccccc");
    ck_assert_int_eq(subjects[0].repeats, 1);
    ck_assert_int_eq(subjects[1].repeats, 1);
    ck_assert_int_eq(subjects[2].repeats, 12);
    for (int r = 0; r < 2; r++)
        ck_assert_msg(sample[0][r] == 6 && fabs(sample[2][r] - 0.09) < 1e-9, "round %d: %g %g", r, sample[0][r],
                      sample[2][r]);
    ck_assert_int_eq(s.told, s.total);
    ck_assert_int_eq(s.total, 9);
}
END_TEST

START_TEST(a_failing_run_ends_it)
{
    scene s = { .step = { 1, 1, 1 }, .fails_at = 3 };
    actor actors[2] = { { &s, 0, 0 }, { &s, 1, 0 } };
    double sample[2][3];
    attest_bench_subject subjects[2] = { { act, &actors[0], sample[0], 0, 0 }, { act, &actors[1], sample[1], 0, 0 } };
    const attest_bench_clock clock = { scene_wall, scene_thread, NULL, &s };
    attest_error err;
    ck_assert_int_eq(attest_bench_measure(subjects, 2, 3, 1, &clock, &err), ATTEST_KERNEL_ERROR);
    ck_assert_str_eq(s.log, "abab");
    ck_assert_str_eq(err.text, "made up");
}
END_TEST

START_TEST(the_machine_is_known)
{
    char name[320] = "";
    int lanes = 0;
    const char *what = NULL;
    attest_error err;
    attest_machine_name(name, sizeof name);
    ck_assert_msg(strstr(name, "CPU") && strstr(name, "family"), "%s", name);
    ck_assert(attest_machine_burst(&lanes, &what) >= 1000000);
    ck_assert_msg((lanes == 8 || lanes == 4 || lanes == 2) && what, "%d lanes", lanes);
    ck_assert_int_eq(attest_machine_burn(NULL, &err), ATTEST_OK);
    ck_assert(attest_machine_peak_memory() > 1 && attest_machine_peak_memory() < 1e6);
}
END_TEST

/* ---- jobs -------------------------------------------------------------------------------------------------------- */
START_TEST(pairs_and_expectations)
{
    static const struct {
        const char *line;
        int64_t pairs;
    } cases[] = { { "n=7 m=5 d=2", 35 },           { "mask=causal n=7 d=2 hq=3 hkv=1", 84 },
                  { "mask=causal n=3 m=9 d=2", 6 }, { "mask=causal-br n=3 m=5 d=2 b=2", 24 },
                  { "mask=causal-br n=5 m=3 d=2", 6 } };
    for (size_t n = 0; n < COUNT(cases); n++) {
        ball_case x;
        ball_case_start(&x, cases[n].line, 1);
        ck_assert_msg(attest_bench_pairs(&x.c.problem, x.bundle) == cases[n].pairs, "%s: %lld pairs", x.line,
                      (long long)attest_bench_pairs(&x.c.problem, x.bundle));
        ball_case_stop(&x);
    }
    ball_case x;
    ball_case_start(&x, "mask=causal n=512 d=64", 1);
    const int64_t pairs = attest_bench_pairs(&x.c.problem, x.bundle);
    ck_assert(attest_bench_expected(ATTEST_BENCH_MPFR, &x.c.problem, pairs) < ATTEST_BENCH_LONGEST);
    ck_assert(attest_bench_expected(ATTEST_BENCH_MPFR, &x.c.problem, 1024 * pairs) > ATTEST_BENCH_LONGEST);
    ck_assert(attest_bench_expected(ATTEST_BENCH_DD, &x.c.problem, 1024 * pairs) < ATTEST_BENCH_LONGEST);
    ck_assert_int_eq(attest_bench_multiply_adds(&x.c.problem), 64 + 64);
    ball_case_stop(&x);
    ball_case_start(&x, "n=3 d=5 e=2", 1);
    ck_assert_int_eq(attest_bench_multiply_adds(&x.c.problem), 5 + 2);
    ball_case_stop(&x);
}
END_TEST

/* One run of a job of each kind gives the row's o; a job that is off is told apart. */
START_TEST(jobs_compute_and_are_compared)
{
    static const uint32_t kinds[] = { ATTEST_BENCH_DD, ATTEST_BENCH_MPFR, ATTEST_BENCH_ARB, ATTEST_BENCH_EXACT,
                                      ATTEST_BENCH_KERNEL };
    ball_case x;
    attest_bench_job dd = { .kind = ATTEST_BENCH_DD, .name = "dd" };
    ball_case_start(&x, "variant=taylor:2 mask=causal n=6 d=4", 1);
    dd.p = &x.c.problem;
    dd.in = x.bundle;
    MUST(attest_bench_job_prepare(&dd, 3, &x.err), &x);
    MUST(attest_bench_job_run(&dd, &x.err), &x);
    for (size_t n = 0; n < COUNT(kinds); n++) {
        attest_bench_job job = { .kind = kinds[n], .name = "job", .p = dd.p, .in = dd.in,
                                 .kernel = &attest_kernel_naive_f32 };
        MUST(attest_bench_job_prepare(&job, 3, &x.err), &x);
        MUST(attest_bench_job_run(&job, &x.err), &x);
        attest_bench_job_read(&job);
        MUST(attest_bench_job_compare(&job, &dd, &x.err), &x);
        ck_assert_msg(job.error < (kinds[n] == ATTEST_BENCH_KERNEL ? 1e-5 : 1e-15), "kind %u: %g", kinds[n],
                      job.error);
        ck_assert(fabs(job.o[23]) > 1e-3);
        job.o[3] += 0x1p-20; /* not the last: the largest error stays */
        ck_assert_int_eq(attest_bench_job_compare(&job, &dd, &x.err),
                         kinds[n] == ATTEST_BENCH_KERNEL ? ATTEST_OK : ATTEST_INTERNAL);
        ck_assert(job.error > 0x1p-21);
        attest_bench_job_clear(&job);
        ck_assert_ptr_null(job.o);
    }
    attest_bench_job_clear(&dd);
    ball_case_stop(&x);
}
END_TEST

/* ---- tables ------------------------------------------------------------------------------------------------------ */
static double counter(void *context) { return *(double *)context += 1; } /* every turn takes 1 s: nothing is repeated */

static attest_bench_table *table_of(int kernels, const char *line, const char *glob, int threads)
{
    static double time;
    static const attest_bench_clock clock = { counter, counter, NULL, &time };
    const attest_bench_options options = { .rounds = 5, .threads = threads, .glob = glob, .clock = &clock };
    attest_bench_table *table = calloc(1, sizeof *table);
    attest_error err;
    const attest_status status = (kernels ? attest_bench_kernels : attest_bench_reference)(table, line, &options, &err);
    ck_assert_msg(status == ATTEST_OK, "%s: %s", line, err.text);
    return table;
}

static const attest_bench_job *row_named(const attest_bench_table *table, const char *name)
{
    for (size_t n = 0; n < table->count; n++)
        if (strcmp(table->job[n].name, name) == 0)
            return &table->job[n];
    return NULL;
}

static void table_free(attest_bench_table *table)
{
    attest_bench_table_clear(table);
    ck_assert_uint_eq(table->count, 0);
    free(table);
}

static char *printed(const attest_bench_table *table, void (*print)(FILE *, const attest_bench_table *))
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print(out, table);
    fclose(out);
    return text;
}

START_TEST(a_table_of_engines)
{
    attest_bench_table *table = table_of(0, "mask=causal n=6 d=4", NULL, 2);
    static const char *const names[] = { "dd-portable", "mpfr-128",   "arb-mat-96",
                                         "naive-f32",   "mpfr-calls", "machine" };
    for (size_t n = 0; n < COUNT(names); n++) {
        const attest_bench_job *job = row_named(table, names[n]);
        ck_assert_msg(job && !job->why[0] && job->sample[4] == 1 && job->repeats == 1, "%s", names[n]);
    }
    ck_assert(row_named(table, "vendor-onednn")->why[0] && row_named(table, "vendor-openblas")->why[0]);
    ck_assert_ptr_null(row_named(table, "exact"));
    ck_assert(table->best == 0 && table->mpfr >= 0 && table->naive >= 0);
    ck_assert_int_eq(table->pairs, 21);
    for (size_t n = 0; n < table->count; n++)
        ck_assert(table->job[n].kind > ATTEST_BENCH_EXACT || table->job[n].error <= 1e-15);
    char *text = printed(table, attest_bench_print), *json = printed(table, attest_bench_print_json);
    ck_assert_msg(strstr(text, "| arb-mat-96 | reference/yard_arb.c | 1000 [1000 .. 1000] |") &&
                      strstr(text, "21 visible pairs; 5 rounds") && strstr(text, "-2-threads |") &&
                      strstr(text, "mpfr_exp at") && strstr(text, "not installed when attest was built"),
                  "%s", text);
    ck_assert_msg(strstr(json, "\"name\":\"mpfr-128\"") && strstr(json, "\"time_over_calls\":") &&
                      strstr(json, "\"mpfr_over_this\":[1,1,1]") && strstr(json, "{\"bench\":\"machine\",\"cpu\":\""),
                  "%s", json);
    free(text);
    free(json);
    table_free(table);
}
END_TEST

START_TEST(honesty_is_least_time_over_least_cost)
{
    attest_bench_table *table = table_of(0, "mask=causal n=2 d=2 e=1", "mpfr-128", 1);
    double(*cost)[ATTEST_YARD_CALLS] = table->job[table->costs].costs;
    double *sample = table->job[table->mpfr].sample, calls = 0;
    for (int r = 0; r < 5; r++) {
        sample[r] = 10 + r;
        for (int c = 0; c < ATTEST_YARD_CALLS; c++)
            cost[r][c] = r == c ? 0.5 : 3;
    }
    for (int c = 0; c < ATTEST_YARD_CALLS; c++) {
        calls += (double)table->job[table->mpfr].calls[c];
        ck_assert(attest_bench_call_cost(table, c) == 0.5);
    }
    ck_assert(fabs(attest_bench_honesty(table) - 20 / calls) < 1e-12);
    ck_assert_uint_eq(table->count, 3); /* with the costs and the machine */
    table_free(table);
}
END_TEST

START_TEST(a_narrow_table_has_f32_beside_it)
{
    attest_bench_table *table = table_of(0, "mask=causal n=6 d=4 in=bf16", "[dn]*", 1);
    char name[64];
    snprintf(name, sizeof name, "dd-%s-on-f32", attest_enclose_path(0));
    const attest_bench_job *f32 = row_named(table, name), *naive = row_named(table, "naive-f32");
    ck_assert_msg(f32 && f32->p->in == ATTEST_F32 && f32->error != f32->error, "%s", name);
    ck_assert_uint_eq(table->job[table->best].p->in, ATTEST_BF16);
    /* the same values for the float kernel, other ones for dd */
    ck_assert(naive && naive->p->in == ATTEST_F32 && naive->error < 1e-5);
    for (int64_t at = 0; at < 24; at++)
        ck_assert(attest_load(attest_bundle_role(naive->in, ATTEST_K), at) ==
                  attest_load(attest_bundle_role(table->own.bundle, ATTEST_K), at));
    ck_assert(attest_load(attest_bundle_role(f32->in, ATTEST_K), 0) !=
              attest_load(attest_bundle_role(naive->in, ATTEST_K), 0));
    table_free(table);
    table = table_of(0, "variant=taylor:2 n=4 d=2", "exact", 1);
    ck_assert(row_named(table, "exact")->sample[0] == 1);
    table_free(table);
}
END_TEST

START_TEST(a_table_of_kernels)
{
    attest_bench_table *table = table_of(1, "mask=causal n=20 d=4", "softmax-two-pass-f32", 1);
    const attest_bench_job *naive = row_named(table, "naive-f32");
    ck_assert(row_named(table, "softmax-two-pass-f32") && naive && !row_named(table, "softmax-online-f32"));
    for (size_t n = 0; n < 2; n++)
        ck_assert_msg(table->judged[n].verdict == ATTEST_PASS && table->judged[n].ratio_hi > 0, "%s: %s",
                      table->job[n].name, table->judged[n].why);
    char *text = printed(table, attest_bench_print);
    ck_assert_msg(strstr(text, "| naive-f32 | kernels/yardstick/naive_f32.c |") && strstr(text, "| pass |"), "%s",
                  text);
    free(text);
    table_free(table);
}
END_TEST

START_TEST(tables_refuse)
{
    static const struct {
        const char *line, *glob, *says;
        int kernels;
    } cases[] = { { "n=0", NULL, "n=0", 0 },
                  { "n=4 d=2", "nosuch*", "nosuch*", 0 },
                  { "n=4 d=2", "nosuch*", "nosuch*", 1 },
                  { "family=nosuch n=4 d=2", NULL, "nosuch", 0 },
                  { "variant=deltanet mask=causal n=4 d=2", "mpfr*", "mpfr*", 0 } };
    static double time;
    static const attest_bench_clock clock = { counter, counter, NULL, &time };
    attest_bench_table *table = calloc(1, sizeof *table);
    for (size_t n = 0; n < COUNT(cases); n++) {
        const attest_bench_options options = { .rounds = 5, .threads = 1, .glob = cases[n].glob, .clock = &clock };
        attest_error err;
        const attest_status status =
            (cases[n].kernels ? attest_bench_kernels : attest_bench_reference)(table, cases[n].line, &options, &err);
        ck_assert_msg(status == ATTEST_BAD_INPUT && strstr(err.text, cases[n].says), "%s: %s", cases[n].line, err.text);
    }
    free(table);
}
END_TEST

/* A kernel that refuses, and one whose run would take long, are rows that say so. */
START_TEST(rows_say_why_not)
{
    attest_bench_table *table = calloc(1, sizeof *table);
    const attest_bench_options some = { .glob = "vendor-o[np]*" };
    attest_error err;
    const attest_kernel *naive = &attest_kernel_naive_f32;
    ck_assert_int_eq(attest_bench_table_start(table, "cap=3 mask=causal n=4 d=2 in=bf16", 5, &err), ATTEST_OK);
    const attest_problem *p;
    const attest_bundle *in;
    ck_assert_int_eq(attest_bench_in_f32(&p, &in, table, &err), ATTEST_OK);
    ck_assert(p == &table->wide.c.problem && in == table->wide.bundle && table->fresh.bundle);
    ck_assert_int_eq(attest_bench_add_kernel(table, naive, "capped", p, in, &err), ATTEST_OK);
    ck_assert_msg(strstr(table->job[0].why, "only softmax"), "%s", table->job[0].why);
    table->pairs = INT64_C(1) << 50;
    table->wide.c.problem.axis[ATTEST_AXIS_CAP].value = 0;
    ck_assert_int_eq(attest_bench_add_kernel(table, naive, "long", p, in, &err), ATTEST_OK);
    ck_assert_msg(strstr(table->job[1].why, "would take"), "%s", table->job[1].why);
    ck_assert_int_eq(attest_bench_add_vendors(table, &some, p, in, &err), ATTEST_OK);
    ck_assert_uint_eq(table->count, 4);
    ck_assert_int_eq(attest_bench_time_all(table, &some, &err), ATTEST_BAD_INPUT);
    ck_assert(attest_bench_wanted(&some, "vendor-onednn") && !attest_bench_wanted(&some, "dd"));
    while (attest_bench_add(table, ATTEST_BENCH_DD, "more", "")) {
    }
    ck_assert_uint_eq(table->count, ATTEST_BENCH_JOBS);
    table_free(table);
}
END_TEST

START_TEST(plugins_are_beside_the_executable)
{
    attest_cli cli = { .program = "some/where/attest" };
    char folder[300], own[256], short_one[24];
    ck_assert(attest_cli_plugins(folder, sizeof folder, &cli));
    ck_assert_str_eq(folder, "some/where/kernels");
    ck_assert(attest_cli_plugins(short_one, 19, &cli) && !attest_cli_plugins(short_one, 18, &cli));
    cli.program = "attest"; /* found through PATH */
    ck_assert(attest_cli_plugins(folder, sizeof folder, &cli));
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    ck_assert(n > 0);
    own[n] = '\0';
    strcpy(strrchr(own, '/'), "/kernels");
    ck_assert_str_eq(folder, own);
}
END_TEST

Suite *suite_bench(void)
{
    Suite *suite = suite_create("bench");
    TCase *rounds = tcase_create("rounds"), *tables = tcase_create("tables");
    tcase_set_timeout(tables, 30);
    tcase_add_test(rounds, medians_and_ratios_of_made_up_samples);
    tcase_add_test(rounds, rounds_take_turns);
    tcase_add_test(rounds, a_failing_run_ends_it);
    tcase_add_test(rounds, the_machine_is_known);
    tcase_add_test(tables, pairs_and_expectations);
    tcase_add_test(tables, jobs_compute_and_are_compared);
    tcase_add_test(tables, a_table_of_engines);
    tcase_add_test(tables, honesty_is_least_time_over_least_cost);
    tcase_add_test(tables, a_narrow_table_has_f32_beside_it);
    tcase_add_test(tables, a_table_of_kernels);
    tcase_add_test(tables, tables_refuse);
    tcase_add_test(tables, rows_say_why_not);
    tcase_add_test(tables, plugins_are_beside_the_executable);
    suite_add_tcase(suite, rounds);
    suite_add_tcase(suite, tables);
    return suite;
}

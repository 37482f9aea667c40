/* test_bench_rounds.c - verify/bench/bench.h: rounds, medians and ratios on made-up samples; what the machine is.
 * Nothing here depends on how long something takes. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "verify/bench/bench.h"

Suite *suite_bench_rounds(void);

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
    double sample[3][2], walls[2][2];
    attest_bench_subject subjects[3] = { { act, NULL, &actors[0], sample[0], 1, walls[0], 0 },
                                         { act, NULL, &actors[1], sample[1], 0, NULL, 0 },
                                         { act, NULL, &actors[2], sample[2], 0, walls[1], 0 } };
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
        ck_assert_msg(sample[0][r] == 6 && fabs(sample[2][r] - 0.09) < 1e-9 && walls[0][r] == 6 &&
                          fabs(walls[1][r] - 0.18) < 1e-9,
                      "round %d: %g %g, on the wall %g %g", r, sample[0][r], sample[2][r], walls[0][r], walls[1][r]);
    ck_assert_int_eq(s.told, s.total);
    ck_assert_int_eq(s.total, 9);
}
END_TEST

START_TEST(a_failing_run_ends_it)
{
    scene s = { .step = { 1, 1, 1 }, .fails_at = 3 };
    actor actors[2] = { { &s, 0, 0 }, { &s, 1, 0 } };
    double sample[2][3];
    attest_bench_subject subjects[2] = { { .run = act, .context = &actors[0], .sample = sample[0] },
                                         { .run = act, .context = &actors[1], .sample = sample[1] } };
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

Suite *suite_bench_rounds(void)
{
    Suite *suite = suite_create("bench_rounds");
    TCase *rounds = tcase_create("rounds");
    tcase_add_test(rounds, medians_and_ratios_of_made_up_samples);
    tcase_add_test(rounds, rounds_take_turns);
    tcase_add_test(rounds, a_failing_run_ends_it);
    tcase_add_test(rounds, the_machine_is_known);
    suite_add_tcase(suite, rounds);
    return suite;
}

/* bench.c - rounds and medians. */
#include "verify/bench/bench_rounds.h"

#include "verify/base/base.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX 1000000

double attest_bench_wall(void *context)
{
    (void)context;
    return attest_now_seconds();
}

double attest_bench_thread(void *context)
{
    struct timespec t;
    (void)context;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct lap {
    double own, wall; /* seconds by the subject's clock, and on the wall */
} lap;

static attest_status turn(lap *took, const attest_bench_subject *s, int repeats, const attest_bench_clock *clock,
                          attest_error *err)
{
    const double wall = clock->wall(clock->context), own = s->wall ? wall : clock->thread(clock->context);
    for (int k = 0; k < repeats; k++) {
        const attest_status status = s->run(s->context, err);
        if (status != ATTEST_OK)
            return status;
    }
    const attest_status ended = s->wait ? s->wait(s->context, err) : ATTEST_OK;
    if (ended != ATTEST_OK)
        return ended;
    const double own_end = s->wall ? 0 : clock->thread(clock->context), wall_end = clock->wall(clock->context);
    *took = (lap){ (s->wall ? wall_end : own_end) - own, wall_end - wall };
    return ATTEST_OK;
}

static int repeats_for(double seconds, double shortest)
{
    if (seconds >= shortest)
        return 1;
    const double wanted = ceil(shortest / (seconds > 1e-9 ? seconds : 1e-9));
    return wanted < REPEATS_MAX ? (int)wanted : REPEATS_MAX;
}

attest_status attest_bench_measure(attest_bench_subject *subjects, size_t count, int rounds, double shortest,
                                   const attest_bench_clock *clock, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const int total = (rounds + 1) * (int)count;
    int done = 0;
    lap took;
    for (size_t s = 0; s < count; s++) {
        ATTEST_TRY(turn(&took, &subjects[s], 1, clock, err));
        if (took.own < shortest || subjects[s].wait) /* the first paid for cold caches, new pages, code to be loaded */
            ATTEST_TRY(turn(&took, &subjects[s], 1, clock, err));
        subjects[s].repeats = repeats_for(took.own, shortest);
        if (subjects[s].wait && subjects[s].repeats > 1) { /* one run and its wait take longer than a run of many */
            ATTEST_TRY(turn(&took, &subjects[s], subjects[s].repeats, clock, err));
            subjects[s].repeats = repeats_for(took.own / subjects[s].repeats, shortest);
        }
        if (clock->progress)
            clock->progress(clock->context, ++done, total);
    }
    for (int r = 0; r < rounds; r++)
        for (size_t s = 0; s < count; s++) {
            if (subjects[s].repeats > 1 || subjects[s].wait)
                ATTEST_TRY(turn(&took, &subjects[s], subjects[s].repeats, clock, err)); /* to warm up */
            ATTEST_TRY(turn(&took, &subjects[s], subjects[s].repeats, clock, err));
            subjects[s].sample[r] = took.own / subjects[s].repeats;
            if (subjects[s].walls)
                subjects[s].walls[r] = took.wall / subjects[s].repeats;
            if (clock->progress)
                clock->progress(clock->context, ++done, total);
        }
out:
    return status;
}

attest_bench_spread attest_bench_time(const double *sample, int rounds)
{
    double sorted[ATTEST_BENCH_ROUNDS_MAX];
    if (rounds < 1 || rounds > ATTEST_BENCH_ROUNDS_MAX)
        return (attest_bench_spread){ NAN, NAN, NAN };
    memcpy(sorted, sample, (size_t)rounds * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)rounds);
    const double median = gsl_stats_median_from_sorted_data(sorted, 1, (size_t)rounds);
    return (attest_bench_spread){ median, sorted[0], sorted[rounds - 1] };
}

attest_bench_spread attest_bench_ratio(const double *a, const double *b, int rounds)
{
    double ratio[ATTEST_BENCH_ROUNDS_MAX];
    for (int r = 0; r < rounds && r < ATTEST_BENCH_ROUNDS_MAX; r++)
        ratio[r] = a[r] / b[r];
    return attest_bench_time(ratio, rounds);
}

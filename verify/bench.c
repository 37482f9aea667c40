/* bench.c - rounds and medians. */
#include "verify/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPEATS_MAX 1000000

/* Seconds of `repeats` runs. */
static attest_status turn(double *seconds, const attest_bench_subject *s, int repeats, const attest_bench_clock *clock,
                          attest_error *err)
{
    double (*const now)(void *) = s->wall ? clock->wall : clock->thread;
    const double start = now(clock->context);
    for (int k = 0; k < repeats; k++) {
        const attest_status status = s->run(s->context, err);
        if (status != ATTEST_OK)
            return status;
    }
    *seconds = now(clock->context) - start;
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
    double seconds;
    for (size_t s = 0; s < count; s++) {
        ATTEST_TRY(turn(&seconds, &subjects[s], 1, clock, err));
        if (seconds < shortest) /* the first run paid for cold caches and new pages */
            ATTEST_TRY(turn(&seconds, &subjects[s], 1, clock, err));
        subjects[s].repeats = repeats_for(seconds, shortest);
        if (clock->progress)
            clock->progress(clock->context, ++done, total);
    }
    for (int r = 0; r < rounds; r++)
        for (size_t s = 0; s < count; s++) {
            if (subjects[s].repeats > 1)
                ATTEST_TRY(turn(&seconds, &subjects[s], subjects[s].repeats, clock, err)); /* to warm up */
            ATTEST_TRY(turn(&seconds, &subjects[s], subjects[s].repeats, clock, err));
            subjects[s].sample[r] = seconds / subjects[s].repeats;
            if (clock->progress)
                clock->progress(clock->context, ++done, total);
        }
out:
    return status;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

attest_bench_spread attest_bench_time(const double *sample, int rounds)
{
    double sorted[ATTEST_BENCH_ROUNDS_MAX];
    if (rounds < 1 || rounds > ATTEST_BENCH_ROUNDS_MAX)
        return (attest_bench_spread){ NAN, NAN, NAN };
    memcpy(sorted, sample, (size_t)rounds * sizeof *sorted);
    qsort(sorted, (size_t)rounds, sizeof *sorted, ascending);
    const double median = rounds % 2 ? sorted[rounds / 2] : (sorted[rounds / 2 - 1] + sorted[rounds / 2]) / 2;
    return (attest_bench_spread){ median, sorted[0], sorted[rounds - 1] };
}

attest_bench_spread attest_bench_ratio(const double *a, const double *b, int rounds)
{
    double ratio[ATTEST_BENCH_ROUNDS_MAX];
    for (int r = 0; r < rounds && r < ATTEST_BENCH_ROUNDS_MAX; r++)
        ratio[r] = a[r] / b[r];
    return attest_bench_time(ratio, rounds);
}

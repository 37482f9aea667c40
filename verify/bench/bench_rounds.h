/* bench_rounds.h - timing things side by side: rounds, medians, spreads, and what the machine can do.
 *
 * Subjects are run round-robin in one process: a ratio inside a round compares neighbours in time.  A fast subject is
 * repeated inside its turn until the turn is long enough for the clock, and its turn begins with as many runs
 * that are not measured: caches and the CPU's frequency (which wide vectors take milliseconds to settle) are then those
 * of its own work.
 */
#ifndef ATTEST_BENCH_ROUNDS_H
#define ATTEST_BENCH_ROUNDS_H

#include <stddef.h>

#include "kernels/status.h"

#define ATTEST_BENCH_SHORTEST 0.020 /* seconds a turn lasts at least */
#define ATTEST_BENCH_ROUNDS 5       /* default, and least */
#define ATTEST_BENCH_ROUNDS_MAX 1000

/* One thing to time; `sample` and `walls` (the caller's) get the seconds of one run in each round. */
typedef struct attest_bench_subject {
    attest_status (*run)(void *context, attest_error *err);
    attest_status (*wait)(void *context, attest_error *err); /* NULL, or ends a turn: what its runs began has ended */
    void *context;
    double *sample; /* [rounds] */
    int wall;       /* 1: by the clock on the wall (several threads); 0: by this thread's processor time */
    double *walls;  /* [rounds] the same by the clock on the wall, or NULL */
    int repeats;    /* set by attest_bench_measure: runs a turn */
} attest_bench_subject;

/* Where time comes from, and who is told: tests bring their own.  What runs on one thread is timed by the processor
 * time of the thread: the same as on the wall of an idle machine, and what other processes take is no part of it. */
typedef struct attest_bench_clock {
    double (*wall)(void *context);                        /* seconds */
    double (*thread)(void *context);                      /* seconds of processor time */
    void (*progress)(void *context, int done, int total); /* or NULL; turns */
    void *context;
} attest_bench_clock;

/* The machine's own: the monotonic clock, and the processor time of the calling thread; context unused. */
double attest_bench_wall(void *context);
double attest_bench_thread(void *context);

/* Every subject is run once to warm up (a short one again, to see how long it takes), then `rounds` rounds over all
 * subjects in their order.  A failing run ends it with that status. */
attest_status attest_bench_measure(attest_bench_subject *subjects, size_t count, int rounds, double shortest,
                                   const attest_bench_clock *clock, attest_error *err);

/* Median (of an even number: the mean of the middle two), least and most; NaN unless 1..ATTEST_BENCH_ROUNDS_MAX rounds.
 */
typedef struct attest_bench_spread {
    double median, least, most;
} attest_bench_spread;
attest_bench_spread attest_bench_time(const double *sample, int rounds);
/* The same of a[r]/b[r], round by round. */
attest_bench_spread attest_bench_ratio(const double *a, const double *b, int rounds);

/* ---- the machine ------------------------------------------------------------------------------------------------- */
/* Vector instructions (fused multiply-adds where the CPU has them) of attest_machine_burn(), and the doubles each
 * holds; *what names them. */
int64_t attest_machine_burst(int *lanes, const char **what);
/* Runs that many independent multiply-adds on the widest vectors this CPU has.  A subject's run(): context unused. */
attest_status attest_machine_burn(void *context, attest_error *err);
/* Reads `bytes` of memory once, in whole vectors of this CPU: what no kernel that reads as much can be faster than. */
void attest_machine_read(const void *memory, size_t bytes);
/* Largest resident size of this process so far, in MiB. */
double attest_machine_peak_memory(void);

#endif

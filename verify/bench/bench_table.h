/* bench_table.h - one problem of `attest bench`: its inputs, its jobs, their times, and how they are printed.
 *
 * Inputs: `own`, drawn from the line; where it is not in f32, `wide`: the same values stored as f32 (for the float
 * kernels) and `fresh`: the line with in=f32, drawn (what the dd engine takes for f32 numbers of the same law).
 */
#ifndef ATTEST_BENCH_TABLE_H
#define ATTEST_BENCH_TABLE_H

#include <stdio.h>

#include "kernels/library/library.h"
#include "reports/result.h"
#include "verify/bench/bench_jobs.h"
#include "verify/base/base.h"

#define ATTEST_BENCH_JOBS 96
#define ATTEST_BENCH_VENDORS 2

typedef struct attest_bench_inputs {
    attest_case c;
    attest_bundle *bundle; /* NULL: not made */
    attest_pages pages;    /* of a problem with pages, once a kernel reads them */
} attest_bench_inputs;

typedef struct attest_bench_table {
    char line[ATTEST_LINE];
    attest_bench_inputs own, wide, fresh;
    int64_t pairs;
    int rounds;
    attest_bench_job job[ATTEST_BENCH_JOBS];
    size_t count;
    /* indices into job, -1: not timed */
    int best;     /* the first dd path on one thread: of those wanted, the fastest */
    int threaded; /* the dd row of several threads */
    int on_f32;   /* the dd row on `fresh` */
    int mpfr, naive, costs, machine, reading;
    attest_plugin *vendor[ATTEST_BENCH_VENDORS]; /* NULL: not installed */
    attest_result
        *judged;     /* `bench kernels`: [count] verdict and ratio of each row, ATTEST_SKIP: not judged; else NULL */
    double unjudged; /* seconds that a truth would have taken which was not asked; 0: it was */
} attest_bench_table;

typedef struct attest_bench_options {
    int rounds, threads; /* threads of the second dd row, or of a second row of each kernel; below 2: none */
    const char *glob;    /* names of rows wanted, however long they take; NULL: all */
    const char *plugins; /* folder of vendor-*.so, or NULL */
    uint32_t device;     /* 0: the built-in kernels; else those of this attest_device in `libraries` */
    attest_plugin *const *libraries; /* [library_count] */
    size_t library_count;
    const attest_bench_clock *clock;
} attest_bench_options;

/* The problems of `bench reference`, or of `bench kernels` on a device (0: the CPU), where the user gives none. */
typedef struct attest_bench_lines {
    const char *const *line;
    size_t count;
} attest_bench_lines;
attest_bench_lines attest_bench_lines_of(int kernels, uint32_t device);

/* Draws the inputs of `line`, runs and compares all engines (or kernels, also judged against their bounds).
 * ATTEST_BAD_INPUT: the line.  ATTEST_UNSUPPORTED: no row that is wanted serves it.  A failure clears the table. */
attest_status attest_bench_reference(attest_bench_table *table, const char *line, const attest_bench_options *options,
                                     attest_error *err);
attest_status attest_bench_kernels(attest_bench_table *table, const char *line, const attest_bench_options *options,
                                   attest_error *err);
void attest_bench_table_clear(attest_bench_table *table);

/* Does a name match the glob (NULL: yes)? */
int attest_bench_wanted(const attest_bench_options *options, const char *name);

/* ---- parts, for the two above ------------------------------------------------------------------------------------ */
attest_status attest_bench_table_start(attest_bench_table *table, const char *line, int rounds, attest_error *err);
/* Are q, k, v narrower than f32? */
int attest_bench_narrow(const attest_bench_table *table);
/* *p, *in = the inputs in f32: own, or wide (made when first asked for). */
attest_status attest_bench_in_f32(const attest_problem **p, const attest_bundle **in, attest_bench_table *table,
                                  attest_error *err);
/* Makes table->fresh. */
attest_status attest_bench_draw_fresh(attest_bench_table *table, attest_error *err);
/* Appends a job; ATTEST_INTERNAL and NULL where the table is full. */
attest_status attest_bench_add(attest_bench_job **job, attest_bench_table *table, uint32_t kind, const char *name,
                               const char *source, attest_error *err);
/* Fills job->why where a run would take longer than ATTEST_BENCH_LONGEST and nobody asked for the row by its name. */
void attest_bench_refuse_long(attest_bench_job *job, const attest_bench_table *table,
                              const attest_bench_options *options);
/* Appends the kernel, or a row that says why not.  each: as in the job; 0: of any kernel.  `memory`: of its library,
 * where its device is another than the CPU; else NULL. */
attest_status attest_bench_add_kernel(attest_bench_table *table, const attest_bench_options *options,
                                      attest_loaded kernel, const attest_memory *memory, double each,
                                      const attest_problem *p, const attest_bundle *in, attest_error *err);
/* Appends the job whose time the machine's peak is told by: multiply-adds (MACHINE) or memory (READ). */
attest_status attest_bench_add_machine(attest_bench_table *table, uint32_t kind, attest_error *err);
/* The vendor kernels: `vendor-openblas`, `vendor-onednn`, or a row that says not installed. */
attest_status attest_bench_add_vendors(attest_bench_table *table, const attest_bench_options *options,
                                       const attest_problem *p, const attest_bundle *in, attest_error *err);
/* Prepares, measures and reads all jobs that have no `why`.  ATTEST_UNSUPPORTED if none of them is wanted. */
attest_status attest_bench_time_all(attest_bench_table *table, const attest_bench_options *options, attest_error *err);

/* ---- figures ----------------------------------------------------------------------------------------------------- */
/* Multiply-adds that the formula needs for a pair, whatever the engine: one a dimension of q and one a channel of v. */
int64_t attest_bench_multiply_adds(const attest_problem *p);
/* MPFR's least time over the sum of calls x least cost of a call; NaN without. */
double attest_bench_honesty(const attest_bench_table *table);
/* A yardstick above this figure is not the loop that it is said to be, or set-up weighs: from ATTEST_BENCH_LARGE
 * products on that is no excuse, and the table is unreliable. */
#define ATTEST_BENCH_HONEST 1.15
#define ATTEST_BENCH_LARGE (1 << 22)
int attest_bench_unreliable(const attest_bench_table *table);
/* Least cost of a call over the rounds. */
double attest_bench_call_cost(const attest_bench_table *table, int call);

/* job `n` over job `by`, or NaN where one of them was not timed; a job on a device wall against wall. */
attest_bench_spread attest_bench_over(const attest_bench_table *table, int n, int by);
/* How many times as fast several threads are as one, wall against wall; NaN without both. */
attest_bench_spread attest_bench_speed_up(const attest_bench_table *table);
/* The same of row n, a kernel with several threads, against the row before it, the kernel with one. */
attest_bench_spread attest_bench_kernel_speed_up(const attest_bench_table *table, int n);
/* What share of the machine's fused multiply-adds in f32, or with acc=f64 in f64 (of so many cores as it has threads),
 * would do the formula's, pair by pair, in the time of row n.  Above 1 where a kernel needs fewer, as recurrences do,
 * and where the CPU does more of another kind: VDPBF16PS adds two products of bf16 a lane. */
attest_bench_spread attest_bench_of_multiply_adds(const attest_bench_table *table, int n);
/* Tera-operations a second of the formula's multiply-adds, pair by pair (two operations each; above the device's peak
 * where a kernel needs fewer, as recurrences do), and GB a second at which the inputs are read and o is written once,
 * in the time of row n, a kernel on a device; NaN of others. */
attest_bench_spread attest_bench_tera(const attest_bench_table *table, int n);
attest_bench_spread attest_bench_stream(const attest_bench_table *table, int n);
/* What share of the speed at which one core reads as much memory would read the inputs once,
 * seen or masked, in the time of row n; NaN of rows with several threads or on a device. */
attest_bench_spread attest_bench_of_reading(const attest_bench_table *table, int n);
/* A dd row's time over that of the formula's multiply-adds in double at the machine's peak: what certainty costs. */
attest_bench_spread attest_bench_over_peak(const attest_bench_table *table, const attest_bench_job *job);
/* Largest bound of a dd row's outputs (of the reference itself, in units of the output), and how many have one. */
double attest_bench_largest_bound(const attest_bench_job *job, int64_t *known);
/* Vector instructions a nanosecond of one core; NaN without. */
double attest_bench_rate(const attest_bench_table *table);

/* Text: a Markdown table and the figures below it.  JSON: one object per row. */
void attest_bench_print(FILE *out, const attest_bench_table *table);
void attest_bench_print_json(FILE *out, const attest_bench_table *table);

#endif

/* bench_jobs.h - what `attest bench` can time on one problem: the dd engine's paths, the yardsticks of reference/,
 * kernels.
 *
 * A job computes o of all rows into its own memory, from the tensors, set-up included (a kernel's
 * workspace is there before the first run).  Its run() is that of an attest_bench_subject whose context is the job.
 */
#ifndef ATTEST_BENCH_JOBS_H
#define ATTEST_BENCH_JOBS_H

#include "kernels/library/library.h"
#include "kernels/tensor/pages.h"
#include "reference/dd/dd.h"
#include "reference/yardstick/yardstick.h"
#include "verify/bench/bench_device.h"
#include "verify/bench/bench_rounds.h"

#define ATTEST_BENCH_BITS_MPFR 128
#define ATTEST_BENCH_BITS_ARB 96
#define ATTEST_BENCH_LONGEST 20.0 /* seconds a run may be expected to take; above it the row says so instead */

typedef enum attest_bench_kind {
    ATTEST_BENCH_DD = 0,
    ATTEST_BENCH_MPFR = 1,
    ATTEST_BENCH_ARB = 2,
    ATTEST_BENCH_EXACT = 3,
    ATTEST_BENCH_KERNEL = 4,
    ATTEST_BENCH_COSTS = 5,   /* not a row: cost of MPFR's calls */
    ATTEST_BENCH_MACHINE = 6, /* not a row: attest_machine_burn() */
    ATTEST_BENCH_READ = 7     /* not a row: attest_machine_read() of as many bytes as the inputs have */
} attest_bench_kind;

typedef struct attest_bench_job {
    char name[48], source[96];
    char why[256];           /* why it is not timed; empty: it is */
    uint32_t kind;           /* attest_bench_kind */
    const attest_problem *p; /* borrowed, with the inputs */
    const attest_bundle *in;
    double *sample, *walls; /* [rounds] seconds a run: by the job's own clock, and on the wall */
    double each;            /* seconds a product may take (attest_bench_expected) */
    int repeats;
    double *o;        /* [b*hq*n*e], after a run; dd and kernels: after attest_bench_job_read() */
    double error;     /* largest |o - truth| against the first dd job's, NaN where nothing was compared */
    int64_t compared; /* outputs that `error` is of: those that the dd job has a bound for */
    /* dd */
    attest_enclose_options options; /* of kernels too: threads; where there are several, the clock is the wall's */
    attest_enclosures enclosures;
    /* MPFR */
    attest_yard_product product;
    int64_t calls[ATTEST_YARD_CALLS];
    double (*costs)[ATTEST_YARD_CALLS]; /* [rounds] of the COSTS job */
    int runs, rounds;
    /* kernel */
    attest_loaded kernel; /* .kernel NULL: none */
    attest_tensor out;
    attest_view view;
    const attest_pages *pages; /* of the inputs; NULL: they are in none */
    void *workspace;           /* of a READ job: what is read; with device.memory: there */
    size_t workspace_size;
    attest_bench_device device;
} attest_bench_job;

/* Is the job a row of the table? */
int attest_bench_is_row(const attest_bench_job *job);

/* Bytes of the inputs. */
size_t attest_bench_input_bytes(const attest_bundle *in);

/* Makes room for samples and results.  `rounds` as in attest_bench_measure. */
attest_status attest_bench_job_prepare(attest_bench_job *job, int rounds, attest_error *err);
void attest_bench_job_clear(attest_bench_job *job);

/* One run; context: the job. */
attest_status attest_bench_job_run(void *context, attest_error *err);
/* Waits until the runs of a kernel on a device have ended. */
attest_status attest_bench_job_wait(void *context, attest_error *err);
/* The result of the last run as doubles in job->o. */
attest_status attest_bench_job_read(attest_bench_job *job, attest_error *err);

/* Is the job timed by the clock on the wall: on several threads, or on a device? */
int attest_bench_by_wall(const attest_bench_job *job);

/* job->error = largest |o - (hi + lo)| over the job->compared elements that `dd` knows; NaN without one.  A job of the
 * reference (dd, MPFR, Arb, exact) that leaves dd's enclosure by more than its own rounding to double is
 * ATTEST_INTERNAL. */
attest_status attest_bench_job_compare(attest_bench_job *job, const attest_bench_job *dd, attest_error *err);

/* Visible pairs of all rows of all query heads. */
int64_t attest_bench_pairs(const attest_problem *p, const attest_bundle *in);

/* Seconds a product (of a query and a key, or a weight and a value) may take, as measured on one x86-64 core of 2023
 * with AVX-512; `path`: of a dd job, or the name of a kernel's device.  Of device cuda it is next to nothing: no
 * line is refused there. */
double attest_bench_each(uint32_t kind, const char *path);
#define ATTEST_BENCH_PLAIN 0.25e-9 /* of the plain float loop, and of vendor kernels at most */
/* Seconds a run of the job may take, roughly; for a choice, not a promise. */
double attest_bench_expected(const attest_bench_job *job, int64_t pairs);

#endif

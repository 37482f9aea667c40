/* study.h - studies: one question of error (or of time) asked at every point of a grid, each answer a result.
 *
 * Answers which studies there are (one row each: its axes, what a point is, what abscissa, series and ordinate are),
 * measures them, and writes and prints what was measured.  Knows no command line: values of axes come as texts.  Judges
 * nothing by itself: numbers are those of verify/compare, reference/ and, for times, of verify/bench.
 *
 * A point is a problem line and a kernel (a study of the reference alone has no kernel).  It is asked once a seed; its
 * result is that of the seed whose ordinate is the median (the lower one of two), so that its line says how to have it
 * again, and least and greatest of all seeds stand beside it.  A point that is not a plain measurement keeps its
 * verdict: that of the first seed which has one.
 */
#ifndef ATTEST_STUDY_H
#define ATTEST_STUDY_H

#include "reports/report.h"
#include "verify/base/base.h"

/* Axes, as options name them.  A list is separated by commas; A..B stands for A, A+1, .. B (orders, seeds) or A, 2A, ..
 * (ranges, lengths, dims; 2^K is a number too). */
typedef enum attest_study_axis {
    ATTEST_STUDY_VARIANT = 0,
    ATTEST_STUDY_IN = 1,
    ATTEST_STUDY_P = 2,
    ATTEST_STUDY_FAMILIES = 3,
    ATTEST_STUDY_LENGTHS = 4,
    ATTEST_STUDY_DIMS = 5,
    ATTEST_STUDY_CENTERS = 6,
    ATTEST_STUDY_RANGES = 7,
    ATTEST_STUDY_ORDERS = 8,
    ATTEST_STUDY_SEEDS = 9,
    ATTEST_STUDY_AXES = 10
} attest_study_axis;

/* Names of the options of the axes: `variant`, `in`, .. */
extern const char *const attest_study_axis_names[ATTEST_STUDY_AXES];

typedef struct attest_study attest_study; /* a row of the table */

/* The study `name`, or NULL. */
const attest_study *attest_study_find(const char *name);
/* Row `index` of the table: name and one sentence; 0 behind the last. */
int attest_study_row(const char **name, const char **sentence, size_t index);

/* What is asked. */
typedef struct attest_study_request {
    const attest_study *study;
    const char *axis[ATTEST_STUDY_AXES]; /* as given; NULL: the study's default */
    const char *library;                 /* NULL: the built-in kernels */
    const char *kernels;                 /* glob; NULL: the study's default (of a library: all) */
    const attest_options *options;       /* program, timeout, jobs, max_time, quiet */
    const char *out;                     /* a folder that exists, or NULL */
    int resume;                          /* go on with the run of the same request that `out` holds a part of */
    int rounds;                          /* of times: as attest_bench_measure */
    int progress;                        /* 1: say on stderr how far it is */
} attest_study_request;

/* How it ended. */
typedef struct attest_study_end {
    size_t points, done; /* pairs of a point and a kernel; those that ended as a result or a refusal */
    size_t kept;         /* of them, how many a resumed run had */
    size_t refused;      /* a kernel does not serve the point */
    char why[320];       /* the last refusal */
    char ended[32];      /* `--max-time`, `SIGINT`, `SIGTERM`, `SIGHUP`; "": it finished */
    int signal;          /* the signal's number, or 0 */
} attest_study_end;

/* Measures every point that is left, series by series in `results`, whatever the number of threads.  ATTEST_BAD_INPUT,
 * one line: a value of an axis, an axis that the study has not, no such kernel; with `resume`: no part, or of another
 * request.  With `out` each point is appended to DIR/study-NAME.part as it comes. */
attest_status attest_study_measure(attest_results *results, attest_study_end *end, const attest_study_request *request,
                                   attest_error *err);

/* DIR/study-NAME.jsonl, .csv, .md, .run.json and .svg, each whole or as it was; .run.json says how many points were
 * planned, and how many are there (reports/files/run.h, with points in place of cases).  The part is removed where the
 * study finished.  A picture that cannot be drawn costs nothing else: an older one is removed and `missing` (else "")
 * says why. */
attest_status attest_study_write(char missing[256], const attest_study *study, const attest_results *results,
                                 const attest_study_end *end, const char *dir, attest_error *err);

/* The table, what the study says below it, and how far it came (on a console only where it did not finish). */
attest_status attest_study_print(FILE *out, attest_table_format format, const attest_study *study,
                                 const attest_results *results, const attest_study_end *end, attest_error *err);

#endif

/* contest.h - `attest judge`: verdict and score of a kernel that knows neither what it is asked nor what counts.
 *
 * Answers whether a kernel computes its formula, and how fast beside a built-in one, where whoever wrote it may try to
 * look right, or fast, without being so.  Draws no inputs, knows no bound and no truth of its own: it asks the rooms of
 * the gate.  What a kernel could play with, and what is done about it:
 *
 *     the inputs     the seed is hidden: of getrandom(), or the owner's.  It is in no argument, environment or file of
 *                    a worker, and every draw has a seed of its own, a SHA-256 of it and of a counter
 *     the sizes      each line of the suite is asked as it stands and with sizes drawn afresh, small and larger.  A
 *                    kernel that serves a line serves some other sizes too, or it fails
 *     the order      the calls of all cases are shuffled; each case is called on fresh inputs, on inputs of before, and
 *                    on those with one row of v changed; a tiny case 1,100 times in between
 *     the memory     tensors lie elsewhere at some calls and at the same place at others; outputs hold NaN or numbers;
 *                    inputs are compared afterwards
 *     the checks     once a case all of the gate's (runner.h, case_checks.h); each call is judged by proven bounds
 *     the bound      errors are held against what the kernel declares and against what the baseline declares too: at
 *                    most ATTEST_CONTEST_SLACK times that one's bound, so that declaring less does not help
 *     the clock      what counts is the time from request to answer, by our clock, of calls that are judged.  A
 *                    worker's clock that shows less than its processor time is a finding
 *     the process    the worker's sandbox; threads that write late meet memory that is gone; a process that stays is a
 *                    finding
 *
 * What is told: verdict, score, counts, and how often each kind of reason occurred.  No line, no tensor, no seed.
 */
#ifndef ATTEST_CONTEST_H
#define ATTEST_CONTEST_H

#include <stdio.h>

#include "reports/report.h"
#include "verify/gate/gate.h"

#define ATTEST_CONTEST_LINES 32  /* of a suite, at most: chosen by the seed */
#define ATTEST_CONTEST_SLACK 4.0 /* proven error over the baseline's bound that is let pass */

/* Findings that are none of a result's reasons. */
typedef enum attest_contest_finding {
    ATTEST_CONTEST_CRASH = 0, /* of the kernel's process */
    ATTEST_CONTEST_TIMEOUT = 1,
    ATTEST_CONTEST_IMPRECISE = 2, /* inside its own bound, far outside the baseline's */
    ATTEST_CONTEST_SIZES = 3,     /* a line that is served with its own sizes only */
    ATTEST_CONTEST_CLOCK = 4,     /* the worker's clock shows less than its processor time */
    ATTEST_CONTEST_PROCESSES = 5, /* left behind */
    ATTEST_CONTEST_FINDINGS = 6
} attest_contest_finding;

/* What is asked of one kernel. */
typedef struct attest_contest {
    const attest_options *options; /* timeout */
    const attest_suite *suite;
    const attest_plan *plan;
    const char *baseline; /* a built-in kernel; NULL: softmax-online-f32, else the first one that serves a case */
    uint64_t seed;        /* hidden */
} attest_contest;

typedef struct attest_judgement {
    char kernel[512], file_hash[20], suite[64], suite_hash[20], baseline[64];
    char digest[20];        /* of the seed: attest_contest_digest() */
    attest_verdict verdict; /* pass, fail, undecided, no-evidence, skip */
    double score; /* geometric mean of baseline's time over the kernel's; 0 unless it passes, NAN: nothing was timed */
    int64_t lines, served;               /* of the suite that were asked; of these, served */
    int64_t cases, sizes, timed;         /* asked; with sizes drawn afresh; whose times are in the score */
    int64_t calls, failed, undecided;    /* calls that were judged; of these */
    int64_t reason[ATTEST_REASON_COUNT]; /* calls with it */
    int64_t finding[ATTEST_CONTEST_FINDINGS];
} attest_judgement;

/* `given`, or 63 bits of getrandom() if that is negative.  ATTEST_IO: the system has none. */
attest_status attest_contest_seed(uint64_t *seed, long given, attest_error *err);

/* SHA-256 (FIPS 180-4) of `count` bytes. */
void attest_sha256(unsigned char hash[32], const void *bytes, size_t count);

/* 16 hex digits that are equal for equal seeds.  Who knows them finds a seed only by trying all. */
void attest_contest_digest(char text[20], uint64_t seed);

/* Tries kernel `kernel` of the plan.  Whatever the kernel does is in the judgement; an error status is a fault of ours,
 * or ATTEST_BAD_INPUT: there is no such baseline. */
attest_status attest_contest_run(attest_judgement *judgement, const attest_contest *contest, size_t kernel,
                                 attest_error *err);

/* One object of JSON on a line, or a text for people. */
attest_status attest_judgement_print(FILE *out, const attest_judgement *judgement, int json, attest_error *err);

/* Exit code: as that of a result with this verdict. */
int attest_judgement_exit(const attest_judgement *judgement);

#endif

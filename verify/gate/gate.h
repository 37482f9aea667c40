/* gate.h - a suite over kernels: threads, workers, order of results; behind `gate` and `audit`.
 *
 * Answers how each kernel does on each case (runner.h: one case on one kernel). Knows no command line: options come
 * as attest_options. Renders nothing but through reports/.
 */
#ifndef ATTEST_GATE_H
#define ATTEST_GATE_H

#include "reports/report.h"
#include "verify/base/base.h"
#include "verify/gate/runner.h"
#include "verify/gate/typical_case.h"
#include "verify/suite/suite.h"

typedef struct attest_gate {
    const attest_options *options;
    const attest_suite *suite;
    const char **libraries; /* [library_count]; NULL = the built-in kernels */
    size_t library_count;
    const char *kernel_glob; /* NULL: all */
    int traits;              /* 1: audit, with attest_gate_traits() */
    int tell_coverage;       /* 1: on stderr, how many cases each kernel served and why not the others */
    /* NULL, or a callback that receives each result; the list then receives none.  One call at a time.  Cases, numbered
     * by `index`, come in any order and side by side, the results of one case in the order (library, kernel).  A kernel
     * that served nothing gives none. */
    attest_status (*take)(void *context, size_t index, const attest_result *result, attest_error *err);
    const attest_judge *judge;                              /* NULL: truth, bounds and the checks of a case */
    int (*wanted)(const void *context, const char *kernel); /* NULL, or more than a glob can say */
    void *context;                                          /* of both */
} attest_gate;

/* Runs every case on every kernel that supports it.  `results` starts empty and ends in the order (case, library,
 * kernel) whatever the number of threads.  A kernel that served no case gets one skip.  Kernels without evidence (no
 * case that passed or failed had a family that is not constant, two visible keys and a nonzero range) turn their pass
 * and ill-posed results of that variant into no-evidence.  When all cases have run, a few that passed are called often,
 * and under load (gate_repeats.h).  On an error the results judged before it are there too. */
attest_status attest_gate_run(attest_results *results, const attest_gate *gate, attest_error *err);

/* 1 if the kernel matches the glob and --device. */
int attest_kernel_wanted(const attest_gate *gate, const attest_kernel_facts *kernel);

/* Writes DIR/results.jsonl, results.csv, junit.xml, trust.json, summary.md. */
attest_status attest_gate_write(const attest_results *results, const char *dir, attest_error *err);

/* What audit adds: the traits (verify/classify/classify.h) of the kernels wanted and, to the results, one for each
 * trait that fails (reason claim: what the kernel says of itself is not so) and one for a kernel that ends badly in a
 * probe. */
attest_status attest_gate_traits(attest_results *results, attest_traits *traits, const attest_gate *gate,
                                 attest_error *err);

/* Console table or JSON lines, and the exit code. */
int attest_gate_tell(const attest_options *options, const attest_results *results);

#endif

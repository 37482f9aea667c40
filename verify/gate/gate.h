/* gate.h - a suite over kernels: threads, workers, order of results; behind `gate` and `audit`.
 *
 * Answers how each kernel does on each case (runner.h: one case on one kernel).  Knows no command line: options come
 * as attest_options.  Renders nothing but through reports/.
 *
 * Whatever a kernel, a library or the machine does costs its own results and no others: each pair of a kernel and a
 * case ends exactly once, as a result or because the kernel does not serve the case, and that is counted.
 */
#ifndef ATTEST_GATE_H
#define ATTEST_GATE_H

#include "reports/compact/compact.h"
#include "reports/report.h"
#include "verify/base/base.h"
#include "verify/gate/plan.h"
#include "verify/gate/runner.h"
#include "verify/gate/typical_case.h"
#include "verify/suite/suite.h"

typedef struct attest_gate {
    const attest_options *options;
    const attest_suite *suite;
    const char *asked; /* an audit's --suite as it was given, for the command that finds a result again; or NULL */
    const attest_plan *plan; /* libraries and kernels: attest_plan_make() with attest_gate_wants() */
    const char *kernel_glob; /* NULL: all */
    int traits;              /* 1: audit, with attest_gate_traits() */
    int tell_coverage;       /* 1: on stderr, how many cases each kernel served and why not the others */
    /* NULL, or a callback that receives each result; the list then receives none.  One call at a time.  Cases, numbered
     * by `index`, come in any order and side by side, the results of one case in the order (library, kernel).  A kernel
     * that served nothing gives none.  It counts what it is given, so a case for which there is no memory ends the run:
     * counted as undecided it would be told nowhere. */
    attest_status (*take)(void *context, size_t index, const attest_result *result, attest_error *err);
    const attest_judge *judge;                              /* NULL: truth, bounds and the checks of a case */
    const attest_look *look;                                /* NULL, or who also looks at the outputs */
    int (*wanted)(const void *context, const char *kernel); /* NULL, or more than a glob can say */
    /* NULL, or 1 for a pair of a case and a kernel of the plan that is not asked for now; it counts as refused.  One
     * call at a time, and none beside `take`. */
    int (*unwanted)(const void *context, size_t index, size_t kernel);
    void *context;           /* of all */
    double began;            /* when --max-time began, where cases were drawn before; 0: with attest_gate_run() */
    int remembers;           /* 1: equal outputs of kernels that declare the same are judged once (attest_memo) */
    attest_compact *compact; /* NULL, or: every result is counted there, and only those that it keeps are listed */
} attest_gate;

/* 1 if the kernel matches the glob and --device; `gate`: an attest_gate without a plan. */
int attest_gate_wants(const void *gate, const attest_kernel_facts *kernel);

/* 1: a kernel of the plan takes a case of the suite on a device of this type (attest_device), here and now. */
int attest_gate_reaches(const attest_gate *gate, uint32_t device);

/* The subject of a result about kernel `k` of the plan, before a worker is asked anything. */
attest_subject attest_gate_subject(const attest_gate *gate, size_t k);

/* " KEY=VALUE" behind the options that decide results; value NULL: nothing.  ATTEST_BAD_INPUT: no room. */
attest_status attest_gate_note(attest_run_info *info, const char *key, const char *value, attest_error *err);

/* What the run is to do, as run.json says it: date, suite, hashes of cases and kernels, options.  ATTEST_BAD_INPUT:
 * SOURCE_DATE_EPOCH is no number. */
attest_status attest_gate_describe(attest_run_info *info, const attest_gate *gate, attest_error *err);

/* Bytes that the run takes, by attest_case_memory() of its largest cases, one a thread; *largest: the number of the
 * case that takes most. A case that takes more than the machine has is not run: its results are skips that say so.
 * ATTEST_BAD_INPUT names a case whose tensors alone do. */
attest_status attest_gate_memory(uint64_t *bytes, size_t *largest, const attest_gate *gate, attest_error *err);

/* Runs every case on every kernel that supports it; pairs that have a result in `results` already (a run that is
 * resumed) are left as they are.  `results` ends in the order (case, library, kernel) whatever the number of threads;
 * info counts.  A library that cannot be loaded gets one crash, a kernel that served no case one skip.
 *
 * When all cases have run (info->complete): kernels without evidence (no case that passed or failed had a family that
 * is not constant, and a given state, or two visible keys and a nonzero range) turn their pass and ill-posed results of
 * that variant into no-evidence (of a shard, info->shard: when all are merged); a few that passed are called often, and
 * under load (repeat_checks.h).  --max-time, SIGINT, SIGTERM and SIGHUP end it before that: info->ended says which.
 *
 * On an error the results judged before it are there too.  ATTEST_INTERNAL: also if a pair did not end, or
 * ended twice. */
attest_status attest_gate_run(attest_results *results, attest_run_info *info, const attest_gate *gate,
                              attest_error *err);

/* What the suite, or that its case was drawn, takes off a verdict: a partial result passes, or is a skip where no
 * element of o tells anything; so does, of a drawn case, one that could not be judged for want of bounds or of a
 * divisor. */
void attest_gate_allow(attest_result *result, const attest_suite *suite, const char *kernel, const attest_case *c,
                       int drawn);

/* 1: this case of its kernel and variant can tell right from wrong.  And what becomes of a result of a kernel and
 * variant without such a case: *result is no evidence; 0: it was not good, and stays. */
int attest_gate_is_evidence(const attest_result *result);
int attest_gate_no_evidence(attest_result *result);

/* ---- the folder of a run ----------------------------------------------------------------------------------------- */
/* Locks `dir` for this process (-1: not locked, nothing to release) and makes `results` the file results.jsonl in it,
 * that grows while the run goes, beside run.json.  With `resume` the results of a run of the same suite, kernels and
 * options on the same device and instruction set that did not finish are kept, and its date; info->complete then says
 * whether any case is left to run.
 * ATTEST_BAD_INPUT, one line: another process writes into the folder; with `resume`: no run is there, or another. */
attest_status attest_gate_folder_open(int *lock, attest_results *results, attest_run_info *info, const char *dir,
                                      int resume, attest_error *err);

/* Of a compact run, before what follows: what all results add up to goes to `results` and, where `dir` is not NULL, to
 * DIR/compact.json.  *whole is the caller's and must live as long as `results`.  Nothing where `compact` is NULL. */
attest_status attest_gate_close_compact(attest_results *results, attest_whole *whole, const attest_compact *compact,
                                        const char *dir, attest_error *err);

/* Writes DIR/results.jsonl, results.csv, junit.xml, results.sarif, code-quality.json, trust.json, summary.md, and last
 * run.json.  Whenever this is ended, what lies there can be resumed. */
attest_status attest_gate_write(const attest_results *results, attest_run_info *info, const char *dir,
                                attest_error *err);

/* Of these trust.json, summary.md and run.json, once more: something was found since. */
attest_status attest_gate_write_words(const attest_results *results, const attest_run_info *info, const char *dir,
                                      attest_error *err);

/* ---- after it ---------------------------------------------------------------------------------------------------- */
/* What audit adds: the traits (verify/classify/classify.h) of the kernels wanted and, to the results, one for each
 * trait that fails (reason claim: what the kernel says of itself is not so) and one for a kernel that ends badly in a
 * probe. */
attest_status attest_gate_traits(attest_results *results, attest_traits *traits, const attest_run_info *info,
                                 const attest_gate *gate, attest_error *err);
/* To the results, one of a kernel of the plan that breaks a property, or ends badly (a crash) in a run for one; `kept`:
 * the folder of the failure, which `attest replay` reproduces, or "": the whole audit does. */
attest_status attest_gate_add_broken(attest_results *results, const attest_run_info *info, const attest_gate *gate,
                                     const char *kernel, int ended, const char *why, const char *kept,
                                     attest_error *err);

/* The classifier asks each kernel of the plan, which is judged from here on as if it declared what its answers show and
 * it does not say (attest_classify_propose()); tells the words, a line or two a kernel. */
attest_status attest_gate_infer(attest_plan *plan, const attest_gate *gate, FILE *out, attest_error *err);

/* Console table, JSON lines or TAP (options->format), what is unfinished, and the exit code: 130, 143 and 129 after
 * SIGINT, SIGTERM and SIGHUP, at least 4 for any other run that is unfinished or has results of the verdict that
 * info->fail_on names.  Under GITHUB_ACTIONS=true also annotations, and the summary in the file that
 * GITHUB_STEP_SUMMARY names. */
attest_status attest_gate_tell(int *code, const attest_options *options, const attest_results *results,
                               const attest_run_info *info, attest_error *err);

#endif

/* diff.h - what changed between two runs, or since a baseline that was accepted.
 *
 * Answers which changes are regressions: new failures, verdicts that got worse, errors that grew beyond their noise.
 * Other changes (better, other bits, faster, slower, other cases) are told beside them.  Reads results only.  It makes
 * verdicts worse, never better: a bound that is broken is a failure, whatever a baseline says.
 *
 * Results are paired by kernel and problem line, and told by class (result.h): the cases of one kernel whose bounds
 * have the same terms, as they are now; a class whose name changed is told.  Results of whole kernels (a library that
 * crashes, a claim, a property) are compared between runs: a failure that was not is a regression.  The error of a case
 * is log2 of typical_rms where both have one, else of norm_error, at least 2^-10 u of the output's type (below it is as
 * good as exact), to 2^-8 bits.  Both are of o: errors of state, lse, u and z have their bounds, and are in no
 * comparison.  Where cases of a class have errors, but none has one on both sides (all were skipped then), that is
 * told, and the class is not compared.  A library goes by the name of its file, whatever folder it lies in; where
 * libraries of one name lie in two folders, by the path that was given.
 *
 *     d_i     what it grew by in case i, in bits, cut to 8 in size
 *     draw    cases of one family, argument, seed and input type whose b, hq, hkv, n, m, d have the same powers of two
 *             below: their d is the mean of their d_i, and n counts draws
 *     shift   mean of the d of n draws
 *     noise   s/sqrt(n), s the deviation of the draws' d, at least ATTEST_DIFF_SPREAD; below 4 draws sqrt(2/n)
 *     grown   shift is at least what is asked, and beyond the noise: n >= 4 and t = shift/noise is above what Student's
 *             law with n-1 degrees of freedom exceeds as seldom as a normal law 5 deviations (3e-7); or, with 1 bit of
 *             noise in each error, shift is at least 5 sqrt(2)/sqrt(n)
 * A class is asked for ATTEST_DIFF_SHIFT; a condition in it (ways.c: a family, a token of the line, sizes, large
 * scores) of ATTEST_DIFF_DRAWS draws or more for ATTEST_DIFF_CONDITION, each of k conditions with 3e-7/k; then those of
 * a kernel's cases, of all its classes, that are in no growth yet are asked as one class.  Each is asked for sqrt(sum
 * of (p_f c_f)^2) at least, p_f the part of its draws that are of family f, c_f ATTEST_DIFF_ORDERED where the family's
 * terms come in an order (ramps, stairs, half-peak, peaked), else ATTEST_DIFF_CONDITION.
 *
 * Two kernels of equal quality have d_i around 0: each rounds its own way.  What they may differ by:
 *  - An element of q and k is drawn by its place (props/draw), so 33 keys are the first of 34, e and v apart, and most
 *    axes leave q and k as they are: such cases round alike, d_i are equal, and ten of them say no more than one.
 *  - Twice as many roundings (a product and a sum, or both in one) are half a bit in root mean square: a spread below
 *    that, 0 too, is luck (ATTEST_DIFF_SPREAD).
 *  - In another order a sum errs otherwise: from the largest term on m roundings are of the size of the whole, from
 *    the smallest on few.  So all draws of one family move together, in either direction: of ramps 2.6 bits, of
 *    half-peak 2.5 at 900 keys, of families without an order up to 2.  Over families that is lost as the root of a sum
 *    of squares, for each moves its own way.  ATTEST_DIFF_ORDERED and ATTEST_DIFF_CONDITION are beyond it.
 *  - A case is exact if norm_error is below u/4.  The nearest numbers to o differ from it by up to half an ulp, evenly:
 *    in root mean square by 2^e u/sqrt(3), e the exponent of o, which is 0.29 u to 0.58 u of |o|.  What is below needs
 *    no rounding, or has few elements and luck; another order of a sum may end it.  Exact then or now, both errors are
 *    taken as 3 u at least: what one rounding each of numerator, divisor and quotient may give.  Exact then and now,
 *    the case is in no mean.
 *  - Equal numbers are rounded alike in all seeds: cases of families whose truth does not depend on every input
 *    (family_constant) are in no mean with the others.  All of a class are one draw, of errors of 3 u at least: by the
 *    rule above they have grown if they did so 2^(5 sqrt(2)) = 134 times in the mean.
 * That cases were exact and are not is told, and so is a case whose error is 2^ATTEST_DIFF_JUMP times what it was, or
 * 3 u, and that is in no growth: one case alone is no regression.
 *
 * The rule is one for runs and baselines: a baseline holds hashes and errors of each case.
 */
#ifndef ATTEST_DIFF_H
#define ATTEST_DIFF_H

#include "reports/report.h"

/* Bits. */
#define ATTEST_DIFF_SHIFT 1.0     /* 2 times */
#define ATTEST_DIFF_CONDITION 2.5 /* 5.7 times */
#define ATTEST_DIFF_ORDERED 3.25  /* 9.5 times */
#define ATTEST_DIFF_SPREAD 0.5
#define ATTEST_DIFF_JUMP 10.0
#define ATTEST_DIFF_DRAWS 3
#define ATTEST_DIFF_DEVIATIONS 5.0

typedef enum attest_change_kind {
    ATTEST_CHANGE_FAILURE = 0, /* failed, crashed or was late, and did not */
    ATTEST_CHANGE_VERDICT = 1, /* another verdict, further from pass */
    ATTEST_CHANGE_ERROR = 2,   /* grew beyond the noise */
    ATTEST_CHANGE_REGRESSIONS = 3,
    ATTEST_CHANGE_JUMP = 3,       /* of single cases */
    ATTEST_CHANGE_BETTER = 4,     /* a better verdict, a smaller error */
    ATTEST_CHANGE_BITS = 5,       /* other outputs */
    ATTEST_CHANGE_SPEED = 6,      /* of kernels that took 50 ms together: 1.5 times faster or slower */
    ATTEST_CHANGE_CLASS = 7,      /* of another name */
    ATTEST_CHANGE_CASES = 8,      /* not in both */
    ATTEST_CHANGE_UNCOMPARED = 9, /* errors, of which no case has one in both */
    ATTEST_CHANGE_KINDS = 10
} attest_change_kind;
extern const char *const attest_change_names[ATTEST_CHANGE_KINDS];

typedef struct attest_change {
    int64_t kind;
    char kernel[512], class[96]; /* class "": all of the kernel */
    char problem[1024];          /* the case, or that which grew most; "": none is named */
    char where[48];              /* of an error: the condition; "": all */
    char text[256];              /* what changed, in words */
    double shift;                /* bits; NAN: no error */
    size_t index;                /* of the result in the later run; SIZE_MAX: none */
} attest_change;

typedef struct attest_diff {
    attest_change *change; /* regressions first */
    size_t count, capacity, regressions;
    size_t compared; /* pairs of results, without those of classes that are not compared */
    size_t other;    /* results that one of two runs has alone; of_classes: of a baseline, classes with such results */
    int of_classes;
    /* Of the earlier run and of the later one, if it is no whole one: `THEN is unfinished: 3 of 12 cases (killed)`. */
    char partial[2][384];
} attest_diff;

void attest_diff_clear(attest_diff *diff);

/* Two runs.  ATTEST_BAD_INPUT: a bad line of results. */
attest_status attest_diff_runs(attest_diff *diff, const attest_results *before, const attest_results *now,
                               attest_error *err);

/* ---- a baseline -------------------------------------------------------------------------------------------------- */
/* What was accepted of the cases of one kernel and class. */
typedef struct attest_baseline_line {
    char kernel[512], class[96];
    char typed[512];                  /* in a file that keys a library by the path that was given: this one; else "" */
    int64_t cases;                    /* results */
    int64_t failed, open, left, good; /* of them, by attest_result_rank(): 0 and 1, 2, 3, 4 */
    int64_t errors, typicals;         /* how many have a norm_error, a typical_rms */
    double error, typical;            /* mean of log2, bits; NAN: none */
    json_t *each;                     /* text: of each case hashes of line and outputs, and its errors */
    json_t *known;                    /* array of "VERDICT PROBLEM": the cases that did not pass; NULL in none */
    char reason[256], tool[32], run[32];
} attest_baseline_line;

typedef struct attest_baseline {
    attest_baseline_line *line; /* by kernel, then class */
    size_t count, capacity;
} attest_baseline;

/* The order of lines, for qsort and bsearch; 0: of the same class. */
int attest_baseline_by_name(const void *a, const void *b);

void attest_baseline_clear(attest_baseline *baseline);
/* Appends a copy. */
attest_status attest_baseline_add(attest_baseline *baseline, const attest_baseline_line *line, attest_error *err);
/* The lines of a run, with this reason. */
attest_status attest_baseline_of(attest_baseline *baseline, const attest_results *results, const char *reason,
                                 attest_error *err);
/* A text file: JSON lines with sorted keys, numbers as hex floats.  Reading: ATTEST_BAD_INPUT, file and line. */
attest_status attest_baseline_read(attest_baseline *baseline, const char *path, attest_error *err);
attest_status attest_baseline_write(const attest_baseline *baseline, const char *path, attest_error *err);
/* 1 if the file says that it is a baseline. */
int attest_baseline_is(const char *path);

/* A run against a baseline, by the rule for two runs.  A case is failing, undecided or skipped as before only if the
 * baseline names it.  Cases that one of them has alone are told with their class, but not where the run has nothing of
 * that kernel. */
attest_status attest_diff_baseline(attest_diff *diff, const attest_baseline *baseline, const attest_results *now,
                                   attest_error *err);

/* What a kernel goes by: `build/k.so:NAME` is k.so:NAME; built-in kernels and programs (exec:COMMAND) go by what they
 * are called. */
void attest_diff_kernel(char name[512], const char *kernel);

/* ---- both -------------------------------------------------------------------------------------------------------- */
/* Opens the results that PATH names: a run's folder, or a file of results.  ATTEST_BAD_INPUT: there are none, or
 * fewer than the run wrote (attest_run_info_whole()). */
attest_status attest_diff_open(attest_results *results, const char *path, attest_error *err);
/* PATH can be compared with: every line of it is read.  ATTEST_BAD_INPUT says which cannot, or that there is none. */
attest_status attest_diff_readable(const char *path, attest_error *err);
/* `now` against what PATH names: a baseline, a run's folder, a file of results.  In diff->partial[0]: that run, if it
 * did not finish. */
attest_status attest_diff_against(attest_diff *diff, const char *path, const attest_results *now, attest_error *err);
/* Into partial, of attest_diff: what is missing of the run whose results PATH names; "" if it finished, or where nobody
 * says (a file without run.json beside it). */
attest_status attest_diff_partial(char partial[384], const char *path, const attest_results *results,
                                  attest_error *err);
/* The same of one that is a shard of a run, where the other is not that shard too. */
attest_status attest_diff_shards(attest_diff *diff, const char *then, const char *now, attest_error *err);
/* Both, each once; "": none. */
void attest_diff_unfinished(char text[800], const attest_diff *diff);

/* Appends a result for each regression: a failure without a case, with the reason baseline, the change in words and the
 * command of the case that it names; and where nothing, or only a part of a run, could be compared, one of the run
 * itself without evidence (exit code 4).  Results of cases stay as they are.  `since`: what was compared with. */
attest_status attest_diff_note(attest_results *now, const attest_diff *diff, const char *since, attest_error *err);

/* A line a change; and, with `since`, a last one: `2 regressions since FILE, 40 results compared`, and what is
 * partial. */
void attest_diff_print(FILE *out, const attest_diff *diff, const char *since);
void attest_diff_headline(char *text, size_t len, const attest_diff *diff, const char *since);
/* A line a change, and a last one with `change`: `summary`, and the counts and the texts of the headline. */
attest_status attest_diff_print_json(FILE *out, const attest_diff *diff);

#endif

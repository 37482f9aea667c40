/* compact.h - a run of which some results are kept and all are counted: `gate --results compact`, DIR/compact.json.
 *
 * Answers what all results of a run add up to, and which of them are kept, so that memory and files are as large after
 * 10^8 cases as after 10^4.  Reads results one after another; runs nothing, and knows no kernel or problem.
 *
 *     counted   every result: verdicts of each kernel and variant (cases drawn by chance apart, for no-evidence is not
 *               said of them), their evidence, the sums behind the tables of signs and of power; and for each kernel
 *               and class histograms of error/bound (of the worst and of the middle element) and of `noticed`
 *     kept      what is no matter of a case; the first of each kernel that gives an exit code; of each kernel the first
 *               ATTEST_COMPACT_BAD of each verdict that deserves attention; of each kernel and class the largest
 *               error/bound, the largest ulp, the smallest `noticed`, and the smallest and largest cases that are
 *               called again after a suite (verify/gate/repeat_checks.h)
 *
 * A histogram has bins of an eighth of an octave from 2^-48 to 2^16: a quantile that is read from it is the upper end
 * of its bin, up to 2^(1/8), 9%, too large.  The largest is exact.  Not counted: warnings (reports/overview.h), which
 * need every seed.
 */
#ifndef ATTEST_COMPACT_H
#define ATTEST_COMPACT_H

#include "reports/overview.h"

#define ATTEST_COMPACT_BAD 100 /* results of one kernel and verdict */

typedef struct attest_compact attest_compact;

attest_status attest_compact_new(attest_compact **compact, attest_error *err);
void attest_compact_free(attest_compact *compact); /* takes NULL */

/* What the caller knows of a result; `index` and `kernel` are his own numbers, which come back. */
typedef struct attest_compact_mark {
    size_t index;
    uint32_t kernel;
    int drawn, evidence;
    double small,
        large; /* measures of a case that may be called again: the smallest and the largest are kept; NAN: none */
} attest_compact_mark;

/* Counts a result. */
attest_status attest_compact_count(attest_compact *compact, const attest_result *result,
                                   const attest_compact_mark *mark, attest_error *err);
/* Keeps it, or not.  *listed: it belongs into the list of results now; else it may come back by
 * attest_compact_extremes(). */
attest_status attest_compact_keep(int *listed, attest_compact *compact, const attest_result *result,
                                  const attest_compact_mark *mark, attest_error *err);

/* The extremes that are not listed yet, each result once. */
typedef attest_status (*attest_compact_take)(void *context, const attest_result *result,
                                             const attest_compact_mark *mark, attest_error *err);
attest_status attest_compact_extremes(attest_compact *compact, attest_compact_take take, void *context,
                                      attest_error *err);

/* A result that was counted has another verdict now. */
void attest_compact_change(attest_compact *compact, const attest_result *was, const attest_result *is, int drawn);
/* Good verdicts of a kernel and variant without evidence become no-evidence. */
void attest_compact_no_evidence(attest_compact *compact);
int attest_compact_has_evidence(const attest_compact *compact, const char *kernel, const char *variant);

/* Counted up to now; with a case, or all. */
int64_t attest_compact_total(const attest_compact *compact);
/* Cases with a result: the caller counts them. */
void attest_compact_cases(attest_compact *compact, int64_t cases);

/* Adds the counts of another run. */
attest_status attest_compact_add(attest_compact *compact, const attest_compact *other, attest_error *err);

/* What is to be told: `whole` is the caller's, and cleared by him.  Of `kept` results. */
attest_status attest_compact_whole(attest_whole *whole, const attest_compact *compact, attest_error *err);

attest_status attest_compact_write(const attest_compact *compact, const char *path, attest_error *err);
/* ATTEST_BAD_INPUT names the file and what is wrong with it. */
attest_status attest_compact_read(attest_compact **compact, const char *path, attest_error *err);
/* 1: the folder of a run holds compact.json; its path in `path`. */
int attest_compact_is(char path[4096], const char *dir);

#endif

/* shard.h - a suite over several processes or machines: which cases are whose, and their results as one run.
 *
 * Answers which cases of a suite a shard has, and puts the folders of all shards together as if one process had run the
 * suite.  Starts nothing on other machines: that is the work of Slurm, GNU parallel or a CI system
 * (reports/docs/scale.md).
 *
 * Shard I of N, 1 <= I <= N, has the cases whose line's FNV-1a, well mixed, is I-1 modulo N: the same on any machine.
 * What is said of a whole suite (no evidence; a kernel that serves nothing) is said by the merge.  Calls under load and
 * many calls (gate.h) are made of a few cases of each shard, among them all that a run of one piece picks: a merge may
 * find more than that, never less.
 */
#ifndef ATTEST_SHARD_H
#define ATTEST_SHARD_H

#include "verify/gate/gate.h"

typedef struct attest_shard {
    int64_t index, count; /* index 1..count; count 0: no shards */
} attest_shard;

/* From `text`, `2/3`; where that is NULL from GTEST_SHARD_INDEX (from 0) and GTEST_TOTAL_SHARDS, else from
 * SLURM_ARRAY_TASK_ID, _MIN, _STEP (default 1) and _COUNT; else none.  ATTEST_BAD_INPUT: one of them is no number, or
 * outside of what the others say. */
attest_status attest_shard_read(attest_shard *shard, const char *text, attest_error *err);

/* Keeps the shard's cases of the suite, in their order, and the text of DIR/cases.txt: kernels, and with `lines`
 * numbers and lines of the cases.  The text is malloc'd, the caller's. */
attest_status attest_shard_keep(char **cases, attest_suite *suite, const attest_plan *plan, const attest_shard *shard,
                                int lines, attest_error *err);
/* DIR/cases.txt, whole or as it was. */
attest_status attest_shard_write(const char *cases, const char *dir, attest_error *err);

/* Puts the finished shards in `dirs` together: results in the order (case, library, kernel) into `results`, which the
 * caller made, and the run of all in *info.  Of compact runs (reports/compact) *compact has the counts and is the
 * caller's, else NULL; the results kept come shard by shard.  ATTEST_BAD_INPUT, one line: a folder that is no shard or
 * did not finish, shards of different suites, kernels, options or devices, one that is missing or given twice. */
attest_status attest_shard_merge(attest_results *results, attest_compact **compact, attest_run_info *info,
                                 const char *const *dirs, size_t count, attest_error *err);
/* The run of all, without its results: everything that attest_shard_merge() checks, before a folder is touched. */
attest_status attest_shard_describe(attest_run_info *info, const char *const *dirs, size_t count, attest_error *err);

#endif

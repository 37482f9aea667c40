/* compare.h - from a kernel's outputs and the truth to one verdict: combines, computes nothing numeric itself.
 *
 * Answers pass, fail, undecided or ill-posed, with reasons, for one case. Runs no kernel and draws nothing.
 */
#ifndef ATTEST_COMPARE_H
#define ATTEST_COMPARE_H

#include "reference/reference.h"
#include "reports/result.h"

/* Rows (b,h,i) to judge: all when n <= 256; else per (b,h) the first, the last, tile edges +-1 (tile and
 * its multiples: first two and last) and 32 chosen by the hash.  rows[] is malloc'd, the caller's. */
typedef struct attest_row_index {
    int64_t b, h, i;
} attest_row_index;
attest_status attest_rows_to_judge(attest_row_index **rows, int64_t *count, const attest_problem *p, uint64_t hash,
                                   int64_t tile, attest_error *err);

/* Leaves of rows[count] those that are not absent (lens_q); returns how many.  attest_rows_all(): of the problem. */
int64_t attest_rows_present(attest_row_index *rows, int64_t count, const attest_truth *truth);
int64_t attest_rows_all(const attest_problem *p, const attest_truth *truth);

/* The class of a result, whose kernel has this schedule: `exp online bf16 p=bf16`, types told where they are not the
 * defaults of `in`. */
void attest_compare_class(char *text, size_t len, const attest_problem *p, uint32_t schedule);

/* Judges every output tensor that `outputs` holds beside the truth and fills verdict, reasons, worst, abs,
 * ulp, ratios, bias, terms, range, engine, bits, class of *result.  `exp_truth` (or NULL) gives the truncation column.
 * `packed`: layout of ht and zt.  claim_ulp 0 = no claim. */
attest_status attest_compare(attest_result *result, attest_truth *truth, attest_truth *exp_truth, const attest_case *c,
                             const attest_bundle *outputs, const attest_numerics *numerics, uint32_t flags,
                             double claim_ulp, attest_error *err);

/* The same, with keys[b*hkv*m] (NULL: its own) as attest_judge_wrong() leaves them.  What it says before stays: several
 * runs of one case add up, and result->keys_seen is the share of them all. */
attest_status attest_compare_keys(attest_result *result, attest_truth *truth, attest_truth *exp_truth,
                                  const attest_case *c, const attest_bundle *outputs, const attest_numerics *numerics,
                                  uint32_t flags, double claim_ulp, unsigned char *keys, attest_error *err);

/* ---- judgements that are made once ------------------------------------------------------------------------------- */
/* Planted defects are copies of one kernel, and on most cases they write the bits of the correct one: who declares the
 * same numerics and wrote the same bits gets the same judgement.  A memo is of one case, and of one thread.  NULL: no
 * memory. */
typedef struct attest_memo attest_memo;
attest_memo *attest_memo_new(void);
void attest_memo_free(attest_memo *memo);

/* attest_compare_keys(), or what it said of the same outputs before.  `stage` numbers the truths that a memo meets:
 * equal stages and equal keys before the call mean equal truths.  Of *result only who it is about (kernel, file,
 * library) may differ between calls.  memo NULL: nothing is kept, nothing is looked up. */
attest_status attest_memo_compare(attest_memo *memo, int stage, attest_result *result, attest_truth *truth,
                                  attest_truth *exp_truth, const attest_case *c, const attest_bundle *outputs,
                                  const attest_numerics *numerics, uint32_t flags, double claim_ulp,
                                  unsigned char *keys, attest_error *err);

#endif

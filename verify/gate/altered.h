/* altered.h - the inputs of a case with what a draw keeps from most values changed (attest_prepared.altered).
 *
 * Answers which inputs show that a kernel ignores an argument or loses a key. Runs no kernel and judges nothing.
 */
#ifndef ATTEST_ALTERED_H
#define ATTEST_ALTERED_H

#include "verify/gate/runner.h"

/* Fills prepared->altered and altered_truth, both NULL before; they stay NULL where the case has nothing to change.
 * `keys`: NULL, or [b*hkv*m] of attest_judge_wrong(): from ATTEST_MANY_KEYS keys on, those that are ATTEST_KEY_SEEN
 * have no value at all, so that fewer keys share a channel. */
attest_status attest_alter(attest_prepared *prepared, const unsigned char *keys, attest_error *err);
void attest_altered_clear(attest_prepared *prepared);

/* ---- poison: what a row must not see -------------------------------------------------------------------------------
 * Tokens from a cut on, and with attn_mask the keys that one row of each KV head does not see, hold NaN, or 1024 for a
 * kernel with ATTEST_MASKED_FINITE; queries from the cut on hold NaN for any kernel.  Rows that see none of them, and
 * have another query, keep their bits. */

/* What keys hold then. */
double attest_poison_value(const attest_kernel_facts *kernel);

/* Keys of batch entry b. */
int64_t attest_poison_length(const attest_problem *p, const attest_bundle *in, int64_t b);
/* Two thirds of the tokens, at most the entry's length; with mask=full only what lies behind the length. */
int64_t attest_poison_cut(const attest_problem *p, int64_t len);
/* With attn_mask: does the row see a key that is poisoned? */
int attest_poison_seen(const attest_prepared *prepared, attest_row at);
/* A bundle for a run of the kernel with its unseen tokens poisoned; given back by attest_bundle_free(). */
attest_status attest_poison_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                   const attest_kernel_facts *kernel, attest_error *err);

/* ---- what is not finite in 8 bits -----------------------------------------------------------------------------------
 * Of kv=e4m3 and e5m2: in each KV head one key or one value that the last row of its first query head sees is a NaN, of
 * any sign and payload; values of e5m2 may be infinite. */

/* As attest_poison_bundle(); as_nan: what is infinite is NaN, for R-NAN says where a NaN must stand. */
attest_status attest_nonfinite_bundle(attest_bundle **bundle, const attest_prepared *prepared,
                                      const attest_kernel_facts *kernel, int as_nan, attest_error *err);

/* ---- a case among others ------------------------------------------------------------------------------------------
 * Two more batch entries and, but for logits of a softmax over heads, twice the heads: the last ones hold the numbers
 * of the case, the others what another seed draws.  What a row answers may differ there by rounding alone. */

/* Makes prepared->larger, where it is not there yet: its case and inputs; inputs NULL: it would be too large, or is not
 * drawn. */
attest_status attest_embed(attest_prepared *prepared, attest_error *err);
/* The numbers of the last entries and heads of `from` go to `to`, a tensor of the case. */
void attest_extract(const attest_tensor *to, const attest_tensor *from);

#endif

/* case_checks.h - what a kernel's outputs must and must not depend on: asked once more of a case that has run.
 *
 *     altered           the outputs for other slopes, gammas, head logits, values (attest_prepared.altered) are judged
 *                       by the same bounds; reasons as of any case, and ignored-argument where no bit of them moved
 *
 *     property layout   with other strides than those of C order (attest_worker_run_strided): the bits are the same
 *                       (not deterministic: within the same bounds), nothing is written to a gap; an error other than
 *                       ATTEST_UNSUPPORTED is a finding, that one is told in `why` of the result, which passes
 *
 *     among others      the case as the last of two more batch entries and (without logits of a softmax over heads) of
 *                       twice the heads, the others drawn by another seed: its outputs are judged by the same bounds,
 *                       those of the others are not; what the kernel writes beside its outputs, or does not write, is
 *                       a finding there, too.  Where the kernel serves those sizes, and they cost little
 *                       (attest_cover_affordable); it gets as many times longer as there are more heads
 *
 *     nan-pattern       kv=e4m3 and e5m2: one key or value of each KV head that a last row sees is NaN, or infinite
 *                       (values of e5m2): o of that row is NaN wherever IEEE operations must make it so, and no finite
 *                       number
 *
 * Of deterministic kernels (ATTEST_DETERMINISTIC), on any inputs, without a reference:
 *
 *     property poison   tokens from `cut` on, of every input that has a token axis, are made NaN (but for queries 1024,
 *                       of a kernel with ATTEST_MASKED_FINITE): rows before `cut` that see no key from there must
 *                       keep their bits
 *     nan-pattern       in the same run: the last query, now NaN itself, gives NaN wherever IEEE operations must
 *     property alone    o has the same bits when no other output is asked for
 *     property batch    batch entry 0 alone (b=1) has the bits that it has in the batch, final states too: kernels
 *                       with ATTEST_BATCH_INVARIANT, cases with b > 1
 *
 * A crash or a hang in such a run is the verdict crash or timeout, and says nothing of what was asked.  A kernel that
 * reports an error is no finding, but where o alone is asked for and as said of the layout.  A finding sets its reason,
 * makes the verdict fail and says in `why` which element moved; results that fail already are not asked.
 */
#ifndef ATTEST_CASE_CHECKS_H
#define ATTEST_CASE_CHECKS_H

#include "verify/gate/runner.h"

/* `outputs`: what the first run gave.  An error status is a fault of ours. */
attest_status attest_case_checks(attest_result *result, attest_prepared *prepared, const attest_subject *subject,
                                 const attest_bundle *outputs, double timeout_s, attest_error *err);

/* ---- of the checks, also for repeat_checks.h --------------------------------------------------------------------- */
#define ATTEST_WHERE 192

/* 1 if all outputs and final states that both have hold the same bits; else `where` says which element does not.  `is`
 * may be of the first batch entries only. */
int attest_same_outputs(char where[ATTEST_WHERE], const attest_problem *p, const attest_bundle *was,
                        const attest_bundle *is);

/* A finding: the verdict is fail, the reason is added, and `why` becomes `what: where`. */
void attest_result_find(attest_result *result, int64_t reason, const char *what, const char *where);

/* A result that passes may still have something to say; the first to speak is heard. */
void attest_result_note(attest_result *result, const char *text);

#endif

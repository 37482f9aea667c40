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

#endif

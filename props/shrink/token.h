/* token.h - one word that says all of a failing case: what `attest replay` reads.
 *
 *     av1:PROPERTY:KERNEL:NUMBER:LINE[:NAME=BITS.BITS...]...:CRC
 *
 * Inside parts a space is written as a comma, and what is neither letter, digit nor one of -_.=/+ as %XX: a token is
 * one word to any shell.  LINE is the canonical problem line, NUMBER the case number of the draws.  Where the values
 * are no longer those drawn, every input has a part: its stored bits in hex, in C order, in the order of
 * attest_problem_inputs().  CRC: 8 hex digits of the CRC-32 (ISO-HDLC) of all before the last colon.  A token of
 * drawn tensors means the same as long as the stream of draws is frozen (rng.h); one with its values, for ever.
 */
#ifndef ATTEST_TOKEN_H
#define ATTEST_TOKEN_H

#include "props/shrink/shrink.h"

#define ATTEST_TOKEN_MOST 65536 /* characters of the longest token; larger cases go to files only */

typedef struct attest_token {
    char property[64];
    char kernel[512];
    attest_example example; /* owned */
} attest_token;

void attest_token_clear(attest_token *token);

/* *text: malloc'd, the caller's; NULL with ATTEST_OK if it would be longer than ATTEST_TOKEN_MOST. */
attest_status attest_token_print(char **text, const attest_token *token, attest_error *err);

/* ATTEST_BAD_INPUT says what is wrong: not a token, another version, CRC, line, tensor missing or of another size. */
attest_status attest_token_parse(attest_token *token, const char *text, attest_error *err);

#endif

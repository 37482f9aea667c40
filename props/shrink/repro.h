/* repro.h - the repro id: one word that says all of a failing case: what `attest replay` reads.
 *
 *     av1:PROPERTY:KERNEL:NUMBER:LINE[:NAME=BITS.BITS...]...:CRC
 *
 * Inside parts a space is written as a comma, and what is neither letter, digit nor one of -_.=/+ as %XX: a repro id is
 * one word to any shell.  LINE is the canonical problem line, NUMBER the case number of the draws.  Where the values
 * are no longer those drawn, every input has a part: its stored bits in hex, in C order, in the order of
 * attest_problem_inputs().  CRC: 8 hex digits of the CRC-32 (ISO-HDLC) of all before the last colon.  A repro id of
 * drawn tensors means the same as long as the stream of draws is frozen (rng.h); one with its values, for ever.
 */
#ifndef ATTEST_REPRO_H
#define ATTEST_REPRO_H

#include "props/shrink/shrink.h"

#define ATTEST_REPRO_MOST 65536 /* characters of the longest repro id; larger cases go to files only */

typedef struct attest_repro {
    char property[64];
    char kernel[512];
    attest_example example; /* owned */
} attest_repro;

void attest_repro_clear(attest_repro *repro);

/* *text: malloc'd, the caller's; NULL with ATTEST_OK if it would be longer than ATTEST_REPRO_MOST. */
attest_status attest_repro_print(char **text, const attest_repro *repro, attest_error *err);

/* ATTEST_BAD_INPUT says what is wrong: no repro id, another version, CRC, line, tensor missing or of another size. */
attest_status attest_repro_parse(attest_repro *repro, const char *text, attest_error *err);

#endif

/* declare_text.h - what a kernel declares of its arithmetic, as words: `schedule=online tile=32 exp_error=2^-23`.
 *
 * For kernels that are no C: a program behind a pipe (kernels/door), files that another program wrote (`attest compare
 * --declare`).  Words `key=value`, separated by spaces, in any order, no key twice:
 *
 *     form=parallel|tiled|split|recurrent|chunk   default parallel
 *     flags=deterministic,batch-invariant,...     ATTEST_* flags of attest.h, in small letters with '-'
 *     outputs=o,u,z,lse,state                     what it gives; default o
 *     each field of attest_numerics               enums by their names (two-pass, nearest, yes, zero, ...), dtypes as
 *                                                 in problem lines, numbers in decimal or as 2^X
 *
 * What is not said is 0: unknown, as in attest.h.
 */
#ifndef ATTEST_DECLARE_TEXT_H
#define ATTEST_DECLARE_TEXT_H

#include "kernels/status.h"

typedef struct attest_declaration {
    attest_numerics numerics;
    uint32_t form;    /* attest_form */
    uint32_t flags;   /* ATTEST_DETERMINISTIC | ... */
    uint32_t outputs; /* ATTEST_GIVES_O | ... */
} attest_declaration;

#define ATTEST_DECLARATION 2048 /* bytes of a declaration's text */

/* Nothing declared: all unknown, form parallel, output o. */
void attest_declaration_init(attest_declaration *d);

/* Takes one word.  *taken = 0: its key is none of a declaration.  ATTEST_BAD_INPUT: the key is, the value is not; the
 * message says what is allowed. */
attest_status attest_declaration_word(attest_declaration *d, int *taken, const char *word, attest_error *err);

/* Takes the words of a text on top of what *d holds.  ATTEST_BAD_INPUT also: a key that is none, a key twice, numbers
 * that no arithmetic has (attest_numerics_check). */
attest_status attest_declaration_add(attest_declaration *d, const char *text, attest_error *err);

/* The same on top of nothing. */
attest_status attest_declaration_parse(attest_declaration *d, const char *text, attest_error *err);

/* Writes what is not 0, in the order of the table; parse(print(d)) = d.  ATTEST_INTERNAL if it does not fit. */
attest_status attest_declaration_print(char *text, size_t len, const attest_declaration *d, attest_error *err);

#endif

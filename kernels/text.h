/* text.h - text from outside as data: names, reasons, paths, lines that a library, a file or a user gives.
 *
 * Made clean once, where it comes in; from then on it is UTF-8 that no terminal takes for a command.  Each writer
 * escapes what its own format takes for markup.
 */
#ifndef ATTEST_TEXT_H
#define ATTEST_TEXT_H

#include <stddef.h>

/* Writes `from`, at most `size` - 1 bytes and a 0: valid UTF-8 as it is; control characters, also those that turn the
 * direction of writing, and bytes that are no UTF-8 as \xNN, or \u{NNNN}.  What is too long ends before the first
 * character that has no room.  Returns 1 if nothing was changed or cut.  The texts do not overlap. */
int attest_text_clean(char *to, size_t size, const char *from);

/* The same in its place, of a text of at most 4095 bytes; the buffer has `size` bytes, and its last one becomes 0. */
int attest_text_clean_own(char *text, size_t size);

#endif

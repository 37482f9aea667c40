/* status.h - the one error idiom of attest.
 *
 * A function that can fail returns attest_status and takes an `attest_error *err` as its last argument.
 * On failure it writes one line (what, where, what is allowed; no newline) into err->text, leaves its
 * outputs defined (NULL, zero) and frees what it had taken at a single `out:` label.  err is never NULL.
 * Ownership, everywhere: what x_new() or x_read() gives is the caller's and goes back through x_free(),
 * which takes NULL; a `const T *` in a struct is borrowed.
 */
#ifndef ATTEST_STATUS_H
#define ATTEST_STATUS_H

#include "kernels/attest.h"

#define ATTEST_ERROR_TEXT 1024

typedef struct attest_error {
    char text[ATTEST_ERROR_TEXT];
} attest_error;

/* Formats the message (cut at the buffer's end; a newline becomes a space, and it is made clean: text.h) and returns
 * `status`. */
attest_status attest_fail(attest_error *err, attest_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " in front of the message that is there; returns `status`. */
attest_status attest_fail_prefix(attest_error *err, attest_status status, const char *prefix);

/* What a failure of the C library is, by errno: ATTEST_NO_MEMORY where there was none, else `status`. */
attest_status attest_of_errno(attest_status status);

#define ATTEST_TRY(call)                                                                                               \
    do {                                                                                                               \
        if ((status = (call)) != ATTEST_OK)                                                                            \
            goto out;                                                                                                  \
    } while (0)

#endif

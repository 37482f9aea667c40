/* input.h - files that are named from outside: regular ones, and nothing that blocks, never ends, or acts when opened.
 *
 * Links are followed.  A FIFO, a device, a directory or a socket is refused and not opened.
 */
#ifndef ATTEST_INPUT_H
#define ATTEST_INPUT_H

#include <stdio.h>

#include "kernels/status.h"

/* Opens PATH for reading; *fd is the caller's to close, -1 on failure; *size (or NULL) is its bytes.  ATTEST_BAD_INPUT
 * names the file and why it cannot be read, ATTEST_NO_MEMORY; errno then says why: ENOENT where nothing has this name,
 * EINVAL where it is no regular file. */
attest_status attest_input_open(int *fd, uint64_t *size, const char *path, attest_error *err);

/* The same as a stream; NULL on failure. */
attest_status attest_input_stream(FILE **in, uint64_t *size, const char *path, attest_error *err);

/* After getline() gave no line, with the errno that it left: ATTEST_OK at the end of the file; else ATTEST_BAD_INPUT or
 * ATTEST_NO_MEMORY, and why.  Who does not ask takes the lines so far for the whole file. */
attest_status attest_input_ended(FILE *in, const char *path, attest_error *err);

#endif

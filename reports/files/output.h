/* output.h - files that are whole or not there. */
#ifndef ATTEST_OUTPUT_H
#define ATTEST_OUTPUT_H

#include <stdio.h>

#include "kernels/status.h"

/* PATH.NUMBER.tmp, a file of its own for each writer, until it is closed well, then PATH. */
typedef struct attest_output {
    FILE *file;
    int slot; /* among the files that attest_output_abandon() removes; -1: there was no room */
    char path[4096], temporary[4128];
} attest_output;

/* ATTEST_BAD_INPUT names the path. */
attest_status attest_output_open(attest_output *out, const char *path, attest_error *err);

/* status ATTEST_OK: flush, close, rename (ATTEST_IO if that fails); else: close and remove the temporary file and
 * return `status`.  Takes a failed open too. */
attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err);

/* Removes the temporary files of all writers of this process, which is about to end without closing them.  Needs no
 * memory and waits for nobody: any thread may call it at any moment. */
void attest_output_abandon(void);

/* Locks the folder for this process until close(*lock), or its end; -1: not locked, nothing to release, as where
 * folders cannot be locked: there nobody is kept out.  The folder itself is locked, so there is no file more.
 * ATTEST_BAD_INPUT: another run holds it, and did for a second; or it cannot be read, and so not be locked. */
attest_status attest_output_lock(int *lock, const char *dir, attest_error *err);

/* 1 if another process holds the folder now. */
int attest_output_is_locked(const char *dir);

/* 1 for the name of a temporary file of a writer: one that was killed leaves it. */
int attest_output_is_temporary(const char *name);

#endif

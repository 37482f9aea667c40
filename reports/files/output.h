/* output.h - files that are whole or not there. */
#ifndef ATTEST_OUTPUT_H
#define ATTEST_OUTPUT_H

#include <stdio.h>

#include "kernels/status.h"

/* A file without a name until it is closed well, so that a writer that is killed leaves nothing; then PATH.  Where the
 * file system knows no such files it is PATH.NUMBER.tmp, one for each writer. */
typedef struct attest_output {
    FILE *file;
    int fd;    /* of the file, until it is closed */
    int named; /* it is at `temporary` */
    char path[4096], temporary[4128];
} attest_output;

/* ATTEST_BAD_INPUT names the path. */
attest_status attest_output_open(attest_output *out, const char *path, attest_error *err);

/* status ATTEST_OK: flush, close, rename (ATTEST_IO if that fails); else: close, leave no file and return
 * `status`.  Takes a failed open too. */
attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err);

/* Locks the folder for this process until close(*lock), or its end; -1: not locked, nothing to release, as where
 * folders cannot be locked: there nobody is kept out.  The folder itself is locked, so there is no file more.
 * ATTEST_BAD_INPUT: another run holds it, and did for a second. */
attest_status attest_output_lock(int *lock, const char *dir, attest_error *err);

/* 1 if another process holds the folder now. */
int attest_output_is_locked(const char *dir);

/* 1 for the name of a temporary file of a writer: one that was killed may leave it. */
int attest_output_is_temporary(const char *name);

#endif

/* part.h - a file of bytes that grows at its end and is read anywhere. */
#ifndef ATTEST_PART_H
#define ATTEST_PART_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/status.h"

/* What was written up to now; the caller closes `fd`. */
typedef struct attest_part {
    int fd; /* -1: none yet */
    int64_t end;
} attest_part;

/* A file without a name, where temporary files go; in memory where there is no such place. */
attest_status attest_part_temporary(attest_part *part, attest_error *err);

/* All of it at the end, or ATTEST_IO naming `path` and the file as it was. */
attest_status attest_part_append(attest_part *part, const char *text, size_t length, const char *path,
                                 attest_error *err);

/* `length` bytes from `at` on; 0, or -1 with errno (0: the file is shorter). */
int attest_part_read(const attest_part *part, char *to, size_t length, int64_t at);

#endif

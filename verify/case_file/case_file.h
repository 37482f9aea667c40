/* case_file.h - a case with the values of its tensors as a text: what a problem line alone cannot draw again.
 *
 *     # attest case 1                        first line; other lines that begin with # are for the reader
 *     kernel=NAME or LIB.so:NAME
 *     problem=LINE
 *     objective=ratio                        what was maximised (verify/search/search.h)
 *     value=0x1.2p-1 (0.5625)                and its value: hex float, then decimal for the reader
 *     strategy=anneal
 *     evaluations=100000
 *     seed=1
 *     tensor q f32 1 1 1 2                   name, dtype, sizes; then one line per row of the last axis
 *     0x1.8p+0 -0x1p-3
 *     end
 *
 * Every input of the problem is there, so no version of a draw or of a search changes what the file means.
 */
#ifndef ATTEST_CASE_FILE_H
#define ATTEST_CASE_FILE_H

#include "kernels/tensor/tensor.h"

typedef struct attest_case_file {
    attest_case c;
    char kernel[512];
    char objective[16], strategy[16];
    double value;
    int64_t evaluations;
    uint64_t seed;
    attest_bundle *inputs; /* owned */
} attest_case_file;

void attest_case_file_clear(attest_case_file *file);

/* Writes `file` to path; `why`: one line for the reader, after the first.  ATTEST_BAD_INPUT: path cannot be written. */
attest_status attest_case_file_write(const attest_case_file *file, const char *path, const char *why,
                                     attest_error *err);

/* 1 if the file at path can be read and its first line is that of a case file, or if there is no memory to see that. */
int attest_is_case_file(const char *path);

/* ATTEST_BAD_INPUT names the file and the line: not such a file, a key twice or missing, a tensor missing or of another
 * shape or dtype, a value that its dtype does not hold. */
attest_status attest_case_file_read(attest_case_file *file, const char *path, attest_error *err);

#endif

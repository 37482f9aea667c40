/* ex2_table.h - tables of ex2.h as text:
 *
 *     ex2-table 1
 *     gpu h200
 *     shifts no
 *     hash 0123456789abcdef
 *     0 BASE SLOPE BEND           64 such lines, in this order, in decimal
 */
#ifndef ATTEST_MODEL_EX2_TABLE_H
#define ATTEST_MODEL_EX2_TABLE_H

#include "ex2.h"
#include "kernels/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* FNV-1a over the 2^23 floats on [0,1), each as four bytes, the lowest first. */
uint64_t ex2_hash(const ex2_table *table);

/* Reads and writes a table.  Reading refuses (ATTEST_BAD_INPUT, with the line) what is not the text above, integers out
 * of range, a significand outside [2^23,2^24), and integers that do not give the hash: a slip of one digit is seen.  On
 * failure *table is zero. */
attest_status ex2_table_read(ex2_table *table, const char *path, attest_error *err);
attest_status ex2_table_write(const ex2_table *table, const char *path, attest_error *err);

#ifdef __cplusplus
}
#endif

#endif

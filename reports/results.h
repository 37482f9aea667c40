/* results.h - many results, given one at a time: kept packed in memory, or lying in their file of JSON lines.
 *
 * Packed, a result takes a word a field and its texts once each: equal texts (kernel, flags, variant ...) are kept
 * once for all.  From a file, only where its lines start is kept: a result is read again each time it is asked for, and
 * who makes tables of results makes one pass over them and asks again for those that are told in another order.
 */
#ifndef ATTEST_RESULTS_H
#define ATTEST_RESULTS_H

#include <stdio.h>

#include "reports/result.h"

typedef struct attest_results {
    size_t count, capacity;
    uint64_t **packed;                /* in memory: a word a field, in the order of the table */
    char **text;                      /* of all of them, each once: a hash table */
    size_t text_count, text_capacity; /* the latter a power of two, or 0 */
    FILE *file;                       /* or in a file; packed is NULL then */
    char *path;
    long *line; /* where each starts */
} attest_results;

/* In memory: appends a copy.  Starts from { 0 }. */
attest_status attest_results_add(attest_results *results, const attest_result *result, attest_error *err);
/* In memory: number `index` becomes a copy of `result`. */
attest_status attest_results_replace(attest_results *results, size_t index, const attest_result *result,
                                     attest_error *err);
/* In memory: orders them by key[index], equal keys in the order that they have; `key` is put into order too. */
attest_status attest_results_sort(attest_results *results, size_t *key, attest_error *err);
/* In memory: one text of a result, by its offset; borrowed until the list is cleared. */
const char *attest_results_text(const attest_results *results, size_t index, size_t offset);

/* In their file.  ATTEST_BAD_INPUT: it cannot be read.  What a line holds is not looked at yet. */
attest_status attest_results_open(attest_results *results, const char *path, attest_error *err);

/* Number `index`; of a file a bad line is ATTEST_BAD_INPUT naming file and line. */
attest_status attest_results_get(attest_result *result, const attest_results *results, size_t index, attest_error *err);

/* One pass: every result in its order to every `take`; stops at the first failure. */
typedef struct attest_accumulator {
    attest_status (*take)(void *state, const attest_result *result, attest_error *err);
    void *state;
} attest_accumulator;
attest_status attest_results_pass(const attest_results *results, const attest_accumulator *accumulators, size_t count,
                                  attest_error *err);

/* Takes both kinds, and { 0 }. */
void attest_results_clear(attest_results *results);

/* ---- files ------------------------------------------------------------------------------------------------------- */
/* JSON lines: one result an object, in the order of the table; `ratio`: [ratio_lo, ratio_hi] again, plain numbers. */
attest_status attest_results_write_jsonl(const attest_results *results, const char *path, attest_error *err);
attest_status attest_result_print_json(FILE *out, const attest_result *result);
/* Reads one line back.  ATTEST_BAD_INPUT, its message starting with `where`: another schema (with the command that
 * makes the file again), a field that is missing or of another type. */
attest_status attest_result_parse_json(attest_result *result, const char *text, const char *where, attest_error *err);
/* A column NAME and NAME_hex for each number. */
attest_status attest_results_write_csv(const attest_results *results, const char *path, attest_error *err);

#endif

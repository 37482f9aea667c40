/* results.h - many results, given one at a time: they lie in a file of JSON lines, in memory only where each starts.
 *
 * The file is one that is there (attest_results_open), one that grows while a run goes (attest_results_create,
 * attest_results_resume), or, for a list that starts from { 0 }, a temporary one without a name.  Who makes tables of
 * results makes one pass over them and asks again for those that are told in another order.  A line is parsed when it
 * is first asked for; what was read is kept in a temporary file, up to 64 MiB of them, for parsing takes far longer.
 * Several threads may ask at once where none adds, replaces or orders.
 */
#ifndef ATTEST_RESULTS_H
#define ATTEST_RESULTS_H

#include <stdio.h>

#include "reports/result.h"

/* Where one lies. */
typedef struct attest_results_line {
    int64_t at, image;     /* in its file; what was read of it, in that of the images */
    uint32_t length;       /* without its newline */
    uint32_t image_length; /* 0: it was not read yet */
    uint16_t edited;       /* 1: in the file of those that were replaced */
    uint16_t rank;         /* 1 + attest_result_rank(); 0: not known before the line is read */
} attest_results_line;

typedef struct attest_results {
    size_t count, capacity;
    attest_results_line *line;          /* [capacity] */
    struct attest_results_files *files; /* NULL: none yet */
    unsigned no_pass;                   /* set of verdicts that --fail-on makes no passes */
    const struct attest_whole *whole;   /* NULL, or: some are kept, and this is what all add up to; not owned */
} attest_results;

/* An empty list whose results are appended to `path`, each as one line and in one write, as they come.
 * ATTEST_BAD_INPUT names the path. */
attest_status attest_results_create(attest_results *results, const char *path, attest_error *err);
/* Those of the file `path`, to read.  ATTEST_BAD_INPUT: it cannot be read, or is no regular file.  What a line holds is
 * not looked at yet. */
attest_status attest_results_open(attest_results *results, const char *path, attest_error *err);
/* The same of a run that was ended, perhaps in the middle of a line: that line is left out. */
attest_status attest_results_open_part(attest_results *results, const char *path, attest_error *err);

/* Appends a copy.  ATTEST_IO: it could not be written; the file is as it was before. */
attest_status attest_results_add(attest_results *results, const attest_result *result, attest_error *err);
/* Number `index` becomes a copy of `result`, for who asks this list; its file stays as it is. */
attest_status attest_results_replace(attest_results *results, size_t index, const attest_result *result,
                                     attest_error *err);
/* Number i becomes what was number order[i], for who asks this list. */
attest_status attest_results_order(attest_results *results, const size_t *order, attest_error *err);

/* Number `index`; a bad line is ATTEST_BAD_INPUT naming file and line. */
attest_status attest_results_get(attest_result *result, const attest_results *results, size_t index, attest_error *err);

/* The same list for who tells it: results with the verdict `fail_on` (a name, or "") are no passes.  It is a view: only
 * the list itself grows and is cleared. */
attest_results attest_results_failing_on(const attest_results *results, const char *fail_on);
/* attest_result_bad(), or such a verdict; its rank is the last of the bad ones then. */
int attest_results_bad(const attest_results *results, const attest_result *result);
int attest_results_rank_of(const attest_results *results, const attest_result *result);

/* Its rank (attest_results_rank_of()), without reading it where this list added or replaced it and --fail-on makes no
 * difference. */
attest_status attest_results_rank(int *rank, const attest_results *results, size_t index, attest_error *err);

/* One pass: every result in its order to every `take`; stops at the first failure. */
typedef struct attest_accumulator {
    attest_status (*take)(void *state, const attest_result *result, attest_error *err);
    void *state;
} attest_accumulator;
attest_status attest_results_pass(const attest_results *results, const attest_accumulator *accumulators, size_t count,
                                  attest_error *err);

/* Takes { 0 } too. */
void attest_results_clear(attest_results *results);

/* ---- files ------------------------------------------------------------------------------------------------------- */
/* JSON lines: one result an object, in the order of the table; `ratio`: [ratio_lo, ratio_hi] again, plain numbers. */
attest_status attest_results_write_jsonl(const attest_results *results, const char *path, attest_error *err);
attest_status attest_result_print_json(FILE *out, const attest_result *result);
/* That line, without a newline; malloc'd, the caller's; NULL: no memory. */
char *attest_result_json(const attest_result *result);
/* Reads one line back.  ATTEST_BAD_INPUT, its message starting with `where`: another schema (with the command that
 * makes the file again), a field that is missing or of another type. */
attest_status attest_result_parse_json(attest_result *result, const char *text, const char *where, attest_error *err);
/* A column NAME and NAME_hex for each number. */
attest_status attest_results_write_csv(const attest_results *results, const char *path, attest_error *err);

#endif

/* fuzz.h - one reader of outside text under random input: what a harness of tests/fuzz is.
 *
 * A harness gives a reader any bytes.  The reader may refuse them, with one line that says why, or take them; what it
 * took must say the same when it is printed and read again.  Anything else is a finding and ends the process: a
 * sanitizer's report, or FUZZ_CHECK.  entry.c makes a libFuzzer program of each harness (`make fuzz`); test_fuzz.c runs
 * all of them over their corpora in `make test`.
 */
#ifndef ATTEST_FUZZ_H
#define ATTEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/status.h"

typedef struct fuzz_reader {
    const char *name; /* of the harness, tests/fuzz/NAME.c, and of its corpus, tests/fuzz/corpus/NAME */
    /* 1: the reader takes these bytes; 0: it refuses them. */
    int (*take)(const uint8_t *data, size_t size);
    /* NULL, or: changes data[0, size) by the structure of its format, by `seed` alone; the new size, at most `most` */
    size_t (*mutate)(uint8_t *data, size_t size, size_t most, unsigned seed);
} fuzz_reader;

#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fuzz_fail(#condition, __FILE__, __LINE__);                                                                 \
    } while (0)
void fuzz_fail(const char *condition, const char *file, int line) __attribute__((noreturn));

/* 0 where the reader refused well: bad input (or no memory), and one line that is not empty; else it fails. */
int fuzz_refused(attest_status status, const attest_error *err);

/* 1: a text that was made clean (kernels/text.h): cleaning it again changes nothing. */
int fuzz_is_clean(const char *text);

/* The bytes as a text, malloc'd; they may hold a 0. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The path of a file in memory that holds these bytes, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* results.c: changes of a result file that keep most of its structure; also what report.c reads. */
size_t fuzz_results_mutate(uint8_t *data, size_t size, size_t most, unsigned seed);

/* The next random number of a mutation; *seed is its state. */
unsigned fuzz_random(unsigned *seed);

#endif

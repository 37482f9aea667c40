/* suite_rules.h - private to suite*.c: the lines of a suite that begin with `!`. */
#ifndef ATTEST_SUITE_RULES_H
#define ATTEST_SUITE_RULES_H

#include "verify/suite/suite.h"

/* `!floor COUNT key=value ...`: at least COUNT cases have all these settings. */
typedef struct attest_floor {
    int line;            /* of the suite's text */
    size_t count, found; /* asked for; in the suite, at most as many */
    char settings[ATTEST_LINE];
} attest_floor;

/* Of each kind of rule a suite has at most so many; each case is asked each of them. */
enum { ATTEST_RULES_MOST = 10000 };

/* Makes room for one more rule of `size` bytes behind `count`: the room doubles.  ATTEST_BAD_INPUT where there are
 * ATTEST_RULES_MOST already; `begin` is how its line begins, for messages. */
attest_status attest_rules_grow(void **rules, size_t count, size_t size, const char *begin, attest_error *err);

/* Appends the rule `KERNELGLOB key=value ... : reason` to a list; `begin` as above. */
attest_status attest_rule_read(attest_case_rule **rules, size_t *count, const char *begin, const char *text,
                               attest_error *err);

/* Adds `[CLASS,..] KERNELGLOB key=value ... : reason` to the suite's allows. */
attest_status attest_allow_read(attest_suite *suite, const char *text, attest_error *err);

/* Reads `COUNT key=value ...` into floor->count and floor->settings. */
attest_status attest_floor_read(attest_floor *floor, const char *text, attest_error *err);

/* ATTEST_BAD_INPUT at the first floor that the suite's cases miss; *line: where it stands. */
attest_status attest_floors_check(const attest_suite *suite, attest_floor *floors, size_t count, int *line,
                                  attest_error *err);

#endif

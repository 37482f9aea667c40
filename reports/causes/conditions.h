/* conditions.h - the conditions of a problem line that causes.c looks at. */
#ifndef ATTEST_CONDITIONS_H
#define ATTEST_CONDITIONS_H

#include "reports/report.h"

enum { CONDITION_SIZES = 8, CONDITION_TOKENS = 400 };

/* A result as conditions see it. */
typedef struct condition_case {
    int64_t size[CONDITION_SIZES]; /* n m d e b hq hkv chunk; -1: not given */
    double scale;
    const char *line; /* the problem line; the caller's */
} condition_case;

typedef struct condition_set {
    size_t count;
    char (*text)[48];
    struct condition_rule *rule;
} condition_set;

/* Value of `key`, which ends at a space or at its end, in a line of key=value tokens; NULL: not there. */
const char *condition_value(const char *line, const char *key);

/* `line` stays the result's: who keeps the case gives it one of its own. */
void condition_case_of(condition_case *c, const attest_result *result);

/* All conditions that could tell one of `lines` from others: every token of them, and the rules on sizes. */
attest_status condition_set_of(condition_set *set, const char *const *lines, size_t count, attest_error *err);
int condition_holds(const condition_set *set, size_t number, const condition_case *c);
/* Takes { 0 } too. */
void condition_set_clear(condition_set *set);

#endif

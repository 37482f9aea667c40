/* contest_private.h - the parts of a contest: its cases, its calls. */
#ifndef ATTEST_CONTEST_PRIVATE_H
#define ATTEST_CONTEST_PRIVATE_H

#include "verify/contest/contest.h"

#define CONTEST_CALLS_MOST 8

/* What a call of a case is. */
typedef enum contest_kind {
    CONTEST_INSPECT = 0, /* all checks of the gate, on inputs of its own */
    CONTEST_FRESH = 1,   /* inputs never seen before; timed */
    CONTEST_NEAR = 2,    /* those of the last fresh call, with one row of v changed */
    CONTEST_AGAIN = 3    /* those of the last fresh call */
} contest_kind;

typedef struct contest_case {
    attest_case c;
    int timed; /* its times are in the score */
    int many;  /* it is called 1,100 times too */
    contest_kind kind[CONTEST_CALLS_MOST];
    int kinds, next;
    uint64_t last; /* seed of the last fresh call */
    uint64_t bits; /* hash of what came out */
    int has_bits;
    size_t baseline; /* kernel of the baseline's worker; SIZE_MAX: none */
    double seconds[CONTEST_CALLS_MOST], reference[CONTEST_CALLS_MOST];
    int times;
} contest_case;

typedef struct contest_state {
    const attest_contest *contest;
    attest_judgement *out;
    attest_subject subject;
    attest_worker *base; /* on the built-in kernels */
    size_t chosen;       /* the baseline asked for; the number of kernels: none is */
    uint64_t drawn;      /* counter of random numbers */
    contest_case *cases;
    size_t count, capacity;
    int evidence;
} contest_state;

/* The next 64 random bits of the contest. */
uint64_t contest_random(contest_state *t);
/* Uniform in least..most. */
int64_t contest_between(contest_state *t, int64_t least, int64_t most);

/* Fills t->cases: lines of the suite, and with other sizes.  Counts lines, served, cases,
 * sizes, the finding of sizes. */
attest_status contest_cases_make(contest_state *t, attest_error *err);

/* The next call of a case. */
attest_status contest_call(contest_state *t, contest_case *tc, contest_kind kind, attest_error *err);

#endif

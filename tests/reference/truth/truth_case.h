/* truth_case.h - a ball_case with a truth on it, and its elements at a precision far above all others. */
#ifndef ATTEST_TESTS_TRUTH_CASE_H
#define ATTEST_TESTS_TRUTH_CASE_H

#include "tests/reference/ball/ball_case.h"

typedef struct truth_case {
    ball_case x;
    attest_truth *truth;
} truth_case;

static inline void start(truth_case *t, const char *line, int drawn, uint32_t engine)
{
    ball_case_start(&t->x, line, drawn);
    MUST(attest_truth_new(&t->truth, &t->x.c.problem, t->x.bundle, engine, &t->x.err), &t->x);
}

static inline void stop(truth_case *t)
{
    attest_truth_free(t->truth);
    ball_case_stop(&t->x);
}

static inline void put(truth_case *t, attest_role role, int64_t i, int64_t c, double value)
{
    ball_case_put(&t->x, role, 0, 0, i, c, value);
}

/* The truth of one element at 2048 bits. */
static inline void sharp(arb_t value, truth_case *t, attest_role role, int64_t at)
{
    const attest_problem *p = &t->x.c.problem;
    const int64_t e = role == ATTEST_O || role == ATTEST_U ? p->e : 1, row = at / e;
    ball_case_row(&t->x, row / p->n / p->hq, row / p->n % p->hq, row % p->n, 2048);
    arb_set(value, role == ATTEST_O   ? t->x.row.o + at % e
                   : role == ATTEST_U ? t->x.row.u + at % e
                   : role == ATTEST_Z ? t->x.row.z
                                      : t->x.row.lse);
}

#endif

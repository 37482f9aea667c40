/* values.h - private to props/: what the properties of values share: runs on inputs of their own, rows, sums. */
#ifndef ATTEST_VALUES_H
#define ATTEST_VALUES_H

#include "props/properties/relation.h"

/* ---- a second run, kept: a trial whose inputs are those that a relation makes ----------------------------------- */
typedef struct values_run {
    attest_trial trial;
    attest_bundle *inputs; /* owned */
} values_run;

/* Runs the kernel on the relation's second problem.  *usable = 0: the problem contradicts itself, the kernel does not
 * serve it, a change is inexact, or the run did not end well (then told in `found`). */
attest_status values_run_make(values_run *run, int *usable, attest_finding *found, const attest_trial *trial,
                              const attest_relation *r, attest_error *err);
void values_run_clear(values_run *run);

/* ---- rows ------------------------------------------------------------------------------------------------------- */
typedef struct values_row {
    int64_t b, h, g, i;  /* g: the KV head that h reads */
    int64_t first, last; /* visible keys [first, last) */
} values_row;

static inline int64_t values_row_count(const attest_problem *p) { return p->b * p->hq * p->n; }

/* Row `number` of b, h, i in C order. */
values_row values_row_of(const attest_problem *p, const attest_bundle *inputs, int64_t number);

/* Of an input or output; keys and values of 8 bits times their scale, exactly. */
double values_at(const attest_bundle *bundle, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3);

/* Element of output `role` (o, u: channel c; z, lse: c = 0). */
double values_output(const attest_bundle *outputs, attest_role role, const values_row *row, int64_t c);

/* attest_finding_add() of it. */
void values_add(attest_finding *found, attest_role role, const values_row *row, int64_t c, double got, double want,
                double tolerance);

/* Index of channel c of the row in arrays of bounds. */
static inline int64_t values_index(const attest_problem *p, attest_role role, const values_row *row, int64_t c)
{
    const int64_t at = (row->b * p->hq + row->h) * p->n + row->i;
    return role == ATTEST_O || role == ATTEST_U ? at * p->e + c : at;
}

/* whole = first part + second part, of output `role`, within the three bounds and the roundings of the sum. */
attest_status values_compare_sum(attest_finding *found, attest_trial *whole, attest_trial *part0, attest_trial *part1,
                                 attest_role role, attest_error *err);

/* ---- values known exactly --------------------------------------------------------------------------------------- */
/* A declared relative error; its ceiling (attest.h) where nothing is declared. */
static inline double values_declared(double error) { return error > 0 ? error : 0x1p-7; }

/* Integers below this have exact sums in the kernel's accumulators and states, as it declares them. */
double values_room(const attest_problem *p, const attest_numerics *n);

/* The output lies between the roundings to its type of want - radius and want + radius; a radius that is not finite:
 * not compared. */
void values_add_interval(attest_finding *found, const attest_bundle *outputs, attest_role role, const values_row *row,
                         int64_t c, double want, double radius);

/* What o is u divided by: norms sum, floor, none, length; no eps. */
double values_divisor(const attest_problem *p, double z, double keys);

/* How far a quotient of exact u and divisor may be from u/divisor before it is rounded to o's type: the declared error
 * and one rounding; 0 if the division is declared to be correctly rounded and acc holds the quotient. */
double values_quotient_radius(const attest_problem *p, const attest_prop_kernel *k, double u, double divisor);

/* ---- slopes ----------------------------------------------------------------------------------------------------- */
/* The slope of query head h: of alibi=usual *inexact = 1 where no double holds it, and what is given is near to it. */
double values_slope(const attest_problem *p, const attest_bundle *inputs, int64_t h, int *inexact);
/* An upper bound of |slope| of any head; infinite for a NaN, 0 without alibi. */
double values_slope_size(const attest_problem *p, const attest_bundle *inputs);

/* ---- what several ask ------------------------------------------------------------------------------------------- */
/* No decay is below 0 or NaN. */
int values_decay_nonnegative(const attest_problem *p, const attest_bundle *inputs);

/* q, k: the products that the score of (row, j) adds, as double: the score with feature identity or relu, without rope
 * and further steps.  Within *error of the real one (d+4 roundings of the absolute sum). */
double values_score(const attest_problem *p, const attest_bundle *inputs, const values_row *row, int64_t j,
                    double *error);

static inline int values_is(const attest_cell *cell, attest_role role)
{
    return cell->id.kind == ATTEST_KIND_ROLE && cell->id.index == role;
}

/* The bits of x, *inexact = 1 if dtype does not hold it. */
uint64_t values_exactly(uint32_t dtype, double x, int *inexact);

/* A word for element (b, g, token, channel) of a tensor; does not depend on sizes. */
uint32_t values_word(const attest_trial *trial, const attest_property *property, const attest_cell *cell);

#endif

/* relation.h - a second problem whose inputs are those of the first in other places, and what its outputs must be.
 *
 * Axes go by their letters (attest_roles: b batch, h query head, g KV head, n query, m key, d, e; r: rows of a state):
 * an element of any tensor of the second problem comes from the first's element with each index x of letter L replaced
 * by from[L][x]; outputs follow the same maps.  A query permutation is one array for `n`; a batch entry alone is
 * c.problem.b = 1 and one index for `b`; duplicated keys are m doubled and from['m'][j] = j mod m.
 */
#ifndef ATTEST_RELATION_H
#define ATTEST_RELATION_H

#include "props/properties/trial.h"

typedef enum attest_letter {
    ATTEST_LETTER_B = 0,
    ATTEST_LETTER_H = 1,
    ATTEST_LETTER_G = 2,
    ATTEST_LETTER_N = 3,
    ATTEST_LETTER_M = 4,
    ATTEST_LETTER_D = 5,
    ATTEST_LETTER_E = 6,
    ATTEST_LETTER_R = 7,
    ATTEST_LETTER_COUNT = 8
} attest_letter;

typedef struct attest_relation attest_relation;

/* An element of the second problem: of which tensor, where, and the letters of its axes. */
typedef struct attest_cell {
    attest_tensor_id id;
    uint32_t dtype;
    int rank;
    int64_t at[4];
    int64_t index[ATTEST_LETTER_COUNT]; /* by letter; -1: no such axis */
} attest_cell;

struct attest_relation {
    attest_case c;                      /* the second problem */
    int64_t *from[ATTEST_LETTER_COUNT]; /* owned; NULL: the same index; an entry -1: no source, bits 0 */
    int bits;                           /* 1: bits are demanded; 0: the sum of both bounds */
    int strided;                        /* 1: the second run's tensors have other strides than C order */
    uint32_t outputs;                   /* ATTEST_GIVES_* that are compared; _STATE: the final states too */
    int exponent[ATTEST_TENSOR_ROLES];  /* second = 2^exponent * first, by output role */
    int negative;                       /* ..and o and u change sign */
    double lse_shift, lse_slack;        /* second lse = first + shift, known to within slack */
    double least;                       /* bits: elements of o, u, z below this in a run need not agree */
    /* NULL, or the bits of this element of a second input, given those that the maps found (0 without source).  May set
     * *inexact = 1: the change has no exact result in this dtype; the property then says nothing of the case. */
    uint64_t (*value)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell, uint64_t bits,
                      int *inexact);
    /* NULL, or 1 if this element of a second output is to be compared. */
    int (*related)(const attest_relation *r, const attest_trial *trial, const attest_cell *cell);
    int64_t cut; /* for `value` and `related` */
    int shift;
};

/* The same problem, no maps, o u z lse compared, bits demanded. */
void attest_relation_init(attest_relation *r, const attest_trial *trial);
void attest_relation_clear(attest_relation *r);

/* from[letter] = 0..size-1, the caller's to change. */
attest_status attest_relation_map(int64_t **map, attest_relation *r, attest_letter letter, int64_t size,
                                  attest_error *err);

/* from[letter] = a permutation of 0..size-1 that the trial fixes (keys sorted by attest_trial_word: dropping an index
 * leaves the order of the others). */
attest_status attest_relation_shuffle(attest_relation *r, attest_letter letter, int64_t size, const attest_trial *trial,
                                      const attest_property *property, attest_error *err);

/* Makes the second inputs, runs, compares.  Elements without a source in the first are not compared.  Says nothing if
 * the second problem contradicts itself or the kernel does not serve it. */
attest_status attest_relation_check(attest_finding *found, attest_trial *trial, const attest_relation *r,
                                    attest_error *err);

/* The two halves of attest_relation_check(): the second inputs (the caller's; NULL and *inexact = 1: the change has no
 * exact result), and the run on them, compared (the caller may have changed them; says nothing as above). */
attest_status attest_relation_inputs(attest_bundle **inputs, int *inexact, const attest_relation *r,
                                     const attest_trial *trial, attest_error *err);
attest_status attest_relation_run(attest_finding *found, attest_trial *trial, const attest_relation *r,
                                  const attest_bundle *inputs, attest_error *err);

/* Stored bits with the other sign. */
uint64_t attest_flip_sign(uint32_t dtype, uint64_t bits);

/* size of a letter's axis; -1 for r. */
int64_t attest_letter_size(const attest_problem *p, attest_letter letter);

#endif

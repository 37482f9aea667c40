/* tape.h - a program of arithmetic that is recorded once, and evaluated again with every rounding chosen.
 *
 * Answers by how much an output of a program can be wrong at most, or nearly so, if each operation errs within what its
 * unit allows.  Knows nothing of attention, kernels or bounds.
 *
 * Every operation appends a node: its value without rounding errors, its operands, and the unit that rounds it.
 * tape_attack() goes backwards once for the derivatives of one output by all nodes, picks for each node the end of its
 * interval of rounding errors that moves the output furthest, and evaluates the whole program again with these: what it
 * returns is an error that is attained, not its linearisation.  Numbers are long doubles with 64 bits, so that what the
 * tape itself rounds is 2^-40 of a rounding error of f32 and less.
 */
#ifndef ATTEST_TESTS_TAPE_H
#define ATTEST_TESTS_TAPE_H

#include <stddef.h>
#include <stdint.h>

/* How results are rounded.  A number x of at least `least` (2^emin) errs by at most `u` of itself (`ulp`: u of the
 * power of two at or below it).  A smaller one errs by at most `eta` (0 where it is a sum or a difference and
 * `gradual`: such sums are exact), and with `flush` may also become 0.  Results have `digits` digits, and those that
 * have no more by themselves are exact (products of short numbers, or with a power of two).  A `function` is never
 * exact, and errs by u of a number below `least` beside eta.  `toward_zero`: errors only make numbers smaller. */
typedef struct tape_unit {
    long double u, eta, least;
    int digits;
    uint32_t nearest; /* 1 + attest_dtype: really rounded to it, to nearest; 0: errors are chosen */
    unsigned ulp : 1, gradual : 1, flush : 1, toward_zero : 1, function : 1;
} tape_unit;

typedef int32_t num; /* a node of the tape */

typedef enum tape_op {
    TAPE_GIVEN,
    TAPE_ROUND,
    TAPE_ADD,
    TAPE_SUB,
    TAPE_MUL,
    TAPE_DIV,
    TAPE_MAX,
    TAPE_MIN,
    TAPE_SQRT,
    TAPE_EXP,
    TAPE_EXP2,
    TAPE_EXPM1,
    TAPE_LOG,
    TAPE_LOG2,
    TAPE_TANH,
    TAPE_SIN,
    TAPE_COS,
    TAPE_OPS
} tape_op;

typedef struct tape_node {
    long double value, exact, slope;
    const tape_unit *unit; /* NULL: exact */
    num a, b;
    uint8_t op;
    int8_t pick;    /* the end of the interval of errors: -1, 0 (no error), 1 */
    int16_t digits; /* significant digits, or TAPE_ANY */
} tape_node;

#define TAPE_ANY 1000

typedef struct tape {
    tape_node *node;
    num count, room;
    int failed; /* no memory, or an input that is not there: all results are worthless */
} tape;

void tape_clear(tape *t); /* forgets the program, keeps the memory */
void tape_free(tape *t);  /* gives the memory back */

/* A number without error. */
num tape_given(tape *t, long double x);
/* The result of `op`, rounded by `unit`; `b` is ignored by functions of one number. */
num tape_do(tape *t, const tape_unit *unit, tape_op op, num a, num b);
/* A constant of the program's source, rounded by `unit`. */
num tape_constant(tape *t, const tape_unit *unit, long double x);

static inline long double tape_value(const tape *t, num x) { return t->node[x].exact; }

/* The largest |error| of `output` that was found: both directions, `rounds` times from the derivatives at the point
 * that the last one led to. */
long double tape_attack(tape *t, num output, int rounds);

#endif

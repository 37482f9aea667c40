/* linear_block.h - what the loops of linear_kernel.h hand each other: the call, a KV head, a block of its tokens, rows
 * that read it.
 */
#ifndef ATTEST_FAST_LINEAR_BLOCK_H
#define ATTEST_FAST_LINEAR_BLOCK_H

#include "fast/linear/linear.h"
#include "fast/linear/product.h"

_Static_assert(LINEAR_UNIT % PANEL == 0 && LINEAR_UNIT % LINEAR_PART == 0 && LINEAR_PART % 4 == 0 &&
                   LINEAR_TOKENS % LINEAR_UNIT == 0,
               "blocking");

/* A call under way; the same for all threads. */
typedef struct linear {
    const attest_problem *p;
    const attest_tensors *t;
    linear_layout at;
    float *shared;
    uint32_t decay;
    int given, sums; /* there is an initial state; z is wanted */
    int delta;       /* values are those that the delta rule writes: delta_values.h */
    int plain;       /* o is gout u, or gout u/z, in floats */
    int64_t wide;    /* channels of a task, the last one may have fewer */
} linear;

/* A task: a KV head, some channels; and the block of its tokens that is open. */
typedef struct linear_task {
    const linear *x;
    row r;            /* b and g; of a row also h, i, first, last */
    int64_t c, count; /* channels [c, c + count) */
    int64_t channels; /* count, rounded up to whole panels */
    float *S, *Z, *keep, *k, *kt, *v, *a, *D, *from_part, *from_block, *q, *near, *far, *w, *u, *f, *g, *z, *buffer;
    int64_t from, tokens; /* the block: tokens [from, from + tokens) */
    int before;           /* S holds something: tokens before the block, or a given state */
    int rough;            /* a value of the block is Inf or NaN */
} linear_task;

/* Rows of one query head that read the open block. */
typedef struct linear_rows {
    int64_t i, count;          /* rows [i, i + count) */
    int64_t seen[LINEAR_ROWS]; /* tokens of the block that each sees; not falling */
} linear_rows;

#endif

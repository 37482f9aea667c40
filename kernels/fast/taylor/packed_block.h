/* packed_block.h - what the loops of packed_kernel.h hand each other: the call, a task and its open block. */
#ifndef ATTEST_FAST_PACKED_BLOCK_H
#define ATTEST_FAST_PACKED_BLOCK_H

#include "fast/taylor/packed.h"

/* A call under way; the same for all threads. */
typedef struct packed {
    const attest_problem *p;
    const attest_tensors *t;
    packed_layout at;
    monomials a;
    float *shared;
} packed;

/* The columns [first,last) of a KV head; the block: tokens and queries since the state was last in memory. */
typedef struct packed_task {
    const packed *x;
    row r;
    int64_t first, last;
    int64_t tokens, reads;
    int64_t until[TILES_UNIT]; /* of each query, how many of the block's tokens it sees */
    float *u[TILES_UNIT];      /* and its row of u */
    float *k, *q, *counts, *f, *decay, *v, *state, *row;
} packed_task;

#endif

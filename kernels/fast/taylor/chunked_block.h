/* chunked_block.h - what the loops of chunked_kernel.h hand each other: the call, a task with its open chunk. */
#ifndef ATTEST_FAST_CHUNKED_BLOCK_H
#define ATTEST_FAST_CHUNKED_BLOCK_H

#include "fast/taylor/chunked.h"

/* A call under way; the same for all threads. */
typedef struct chunked {
    const attest_problem *p;
    const attest_tensors *t;
    chunked_layout at;
    monomials a;
    float *shared;
} chunked;

/* The columns [first,last) of a KV head; the open chunk, tokens [from, from + count), and the queries that wait. */
typedef struct chunked_task {
    const chunked *x;
    row r;
    int64_t first, last;
    int64_t from, count, reads;
    int64_t until[CHUNKED_UNIT]; /* of each query, how many of the chunk's tokens it sees */
    float *u[CHUNKED_UNIT];      /* and its row of u */
    float *keys, *values, *queries, *counts, *scores, *q, *k, *state, *row;
} chunked_task;

/* What all or some of a group's ROWS queries see of the open chunk. */
typedef struct chunked_sight {
    int rows; /* queries of the group: the last one may lack some */
    int64_t common, most;
} chunked_sight;

#endif

/* order.h - in which order blocks and threads of a launch run: ATTEST_CUDA_HOST_ORDER, as machine.h says. */
#ifndef ATTEST_CUDA_HOST_ORDER_H
#define ATTEST_CUDA_HOST_ORDER_H

#include <stdint.h>

typedef struct launch_order {
    int reverse, greedy, random;
    uint64_t seed, state; /* of random: as it was given; where the stream is */
} launch_order;

/* text NULL: forward.  0: no such order. */
int launch_order_read(launch_order *order, const char *text);
/* The block that runs as number i of `blocks`. */
uint64_t launch_order_block(const launch_order *order, uint64_t i, uint64_t blocks);
/* Ranks of threads: at first, and before each round of them. */
void launch_order_first(const launch_order *order, unsigned *rank, unsigned count);
void launch_order_round(launch_order *order, unsigned *rank, unsigned count);

#endif

/* rng.h - the frozen stream of draws: Philox4x32-10 (Random123) addressed by what is drawn, not by order.
 *
 * key = seed; counter = (case, tensor + 2^16*block, index low, high), index = b:12|h:12|token:24|channel:16.
 * So an element's value depends on its logical place only: a larger shape leaves it as it was, and any case
 * can be made alone.  Known answers: tests/props/draw/test_rng.c.  No libm, no floating point.
 */
#ifndef ATTEST_RNG_H
#define ATTEST_RNG_H

#include <stdint.h>

typedef struct attest_stream {
    uint64_t seed;
    uint32_t case_number; /* 0 outside `props` */
    uint32_t tensor;      /* attest_tensor_draw_number() */
} attest_stream;

/* b, h < 2^12; token < 2^24; channel < 2^16.  h is the tensor's own head axis (query or KV). */
uint64_t attest_draw_index(int64_t b, int64_t h, int64_t token, int64_t channel);

/* The four words of one block. */
void attest_draw_words(uint32_t words[4], const attest_stream *stream, uint32_t block, uint64_t index);

/* Sum of the 12 words of blocks 0..2 minus 6(2^32-1): an integer whose 2^-32 multiple is approximately N(0,1). */
int64_t attest_draw_normal(const attest_stream *stream, uint64_t index);

#endif

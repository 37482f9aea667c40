/* base_random.h - for the base suites: splitmix64 from a fixed seed, and a check for long loops. */
#ifndef TESTS_BASE_RANDOM_H
#define TESTS_BASE_RANDOM_H

#include <stdint.h>

#include "kernels/hash.h"

static inline uint64_t random_word(uint64_t *state) { return attest_next64(state); }

/* 0 .. n-1 */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((random_word(state) >> 32) * n >> 32);
}

/* ck_assert_msg that costs nothing where it holds (Check's own writes a mark each time). */
#define must(condition, ...)                                                                                           \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            ck_abort_msg(__VA_ARGS__);                                                                                 \
    } while (0)

#endif

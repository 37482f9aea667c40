/* bf16_cases.h - operands for the models of instructions with bf16 numbers: ordinary ones, edges of the format, sums
 * that cancel.
 */
#ifndef ATTEST_TEST_BF16_CASES_H
#define ATTEST_TEST_BF16_CASES_H

#include "kernels/attest_float.h"
#include "tests/kernels/base_random.h"

#include <math.h>

/* Same bits, or both NaN. */
static inline int same(float x, float y) { return attest_f32_bits(x) == attest_f32_bits(y) || (isnan(x) && isnan(y)); }

/* A bf16 number: any; or with an exponent near that of others; or an edge of the format. */
static inline uint32_t some_bf16(uint64_t *stream)
{
    static const uint16_t edges[] = { 0,      0x8000, 1,      0x8001, 0x7f,   0x80,   0x81,   0x7f7f,
                                      0x7f80, 0xff80, 0x7fc0, 0x3f80, 0x3f81, 0x0100, 0x8080, 0x2000 };
    const uint32_t r = (uint32_t)random_word(stream);
    switch (r >> 30) {
    case 0: return edges[r & 15];
    case 1: return r & 0xffff;
    case 2: return (r & 0x80ff) | 0x3f00;             /* near 1 */
    default: return (r & 0x807f) | (r >> 8 & 3) << 7; /* near the least normal number */
    }
}

/* A float: any; or near a product of the pair, so that the sum cancels; or an edge. */
static inline float some_float(uint64_t *stream, uint32_t a, uint32_t b)
{
    static const uint32_t edges[] = { 0, 0x80000000u, 1, 0x007fffff, 0x00800000, 0x00800001, 0x7f7fffff, 0x7f800000 };
    const uint32_t r = (uint32_t)random_word(stream);
    const float near = -attest_bits_f32(a << 16) * attest_bits_f32(b << 16);
    switch (r & 3) {
    case 0: return attest_bits_f32(edges[r >> 2 & 7]);
    case 1: return attest_bits_f32((uint32_t)random_word(stream));
    case 2: return attest_bits_f32(attest_f32_bits(near) + (r >> 2 & 31) - 16);
    default: return attest_bits_f32((r & 0x80ffffff) | 0x3f000000);
    }
}

/* A word of two of them. */
static inline uint32_t some_word(uint64_t *stream)
{
    const uint32_t low = some_bf16(stream);
    return low | some_bf16(stream) << 16;
}

#endif

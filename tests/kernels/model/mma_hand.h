/* mma_hand.h - what numbers near 1 do not show of the rule of kernels/model/mma.h: vectors by hand, from the models of
 * the two groups that it names.  No GPU gave them.
 */
#ifndef ATTEST_TESTS_MMA_HAND_H
#define ATTEST_TESTS_MMA_HAND_H

#include "kernels/model/mma.h"

#include <math.h>

typedef struct mma_hand {
    const char *gpu;
    mma_input input;
    mma_output output;
    float c, a[16], b[16], d;
    uint32_t bits; /* of d where it is a NaN or a zero whose sign counts; else 0 */
} mma_hand;

#define NOT_A_NUMBER 0x7fffffffu
#define BF16_F32 MMA_BF16, MMA_TO_F32
#define F16_F16 MMA_F16, MMA_TO_F16

// clang-format off
static const mma_hand mma_hands[] = {
    /* a zero has no exponent: with 2^127 beside it, c would be cut */
    { "h200", BF16_F32, 0x1p-25f, { 0 }, { 0x1p127f }, 0x1p-25f, 0 },
    { "a100", BF16_F32, 0x1p-25f, { 0x1p127f }, { -0.0f }, 0x1p-25f, 0 },
    /* the floor of f32: addends in units of 2^-158 (H200), 2^-156 (A100); 2^-149 is 512 and 128 of them */
    { "h200", BF16_F32, 0, { 0x1p-71f, 0x1.fap-72f, 0x1.8p-79f, 0x1.8p-79f },
      { 0x1p-79f, 0x1p-79f, 0x1p-79f, 0x1p-79f }, 0, 0 },
    { "h200", BF16_F32, 0, { 0x1p-71f, 0x1.fep-72f, 0x1p-79f }, { 0x1p-79f, 0x1p-79f, 0x1p-79f }, 0x1p-149f, 0 },
    { "a100", BF16_F32, 0, { 0x1p-72f, 0x1.e8p-73f, 0x1.8p-78f, 0x1.8p-78f },
      { 0x1p-78f, 0x1p-78f, 0x1p-78f, 0x1p-78f }, 0, 0 },
    { "a100", BF16_F32, 0, { 0x1p-72f, 0x1.f8p-73f, 0x1p-78f }, { 0x1p-78f, 0x1p-78f, 0x1p-78f }, 0x1p-149f, 0 },
    /* of f16: 2^-25 is a tie, and one unit of 2^-46, 2^-44, 2^-42 is above it */
    { "h200", F16_F16, 0, { 0x1p-12f, 0x1p-23f }, { 0x1p-13f, 0x1p-23f }, 0x1p-24f, 0 },
    { "h200", F16_F16, 0, { 0x1p-12f, 0x1p-23f }, { 0x1p-13f, 0x1p-24f }, 0, 0 },
    { "a100", F16_F16, 0, { 0x1p-12f, 0x1p-22f }, { 0x1p-13f, 0x1p-22f }, 0x1p-24f, 0 },
    { "a100", F16_F16, 0, { 0x1p-12f, 0x1p-22f }, { 0x1p-13f, 0x1p-23f }, 0, 0 },
    { "v100", F16_F16, 0, { 0x1p-12f, 0x1p-21f }, { 0x1p-13f, 0x1p-21f }, 0x1p-24f, 0 },
    { "v100", F16_F16, 0, { 0x1p-12f, 0x1p-21f }, { 0x1p-13f, 0x1p-22f }, 0, 0 },
    /* subnormal entries count, with the exponent -126: c loses 2^-133 beside 2^-133 2^20 */
    { "h200", BF16_F32, 0, { 0x1p-133f }, { 0x1p20f }, 0x1p-113f, 0 },
    { "h200", BF16_F32, 0x1.00001p-113f, { 0x1p-133f }, { 0x1p20f }, 0x1p-112f, 0 },
    { "h200", F16_F16, 0, { 0x1p-24f }, { 0x1p4f }, 0x1p-20f, 0 },
    /* so does a subnormal c: eight products of 1.5 units of 2^-151 give 8 of them, and a result in 2^-149 */
    { "h200", BF16_F32, 0x1p-140f, { 0 }, { 1 }, 0x1p-140f, 0 },
    { "h200", BF16_F32, 0x1p-140f, { 0x1.8p-80f, 0x1.8p-80f, 0x1.8p-80f, 0x1.8p-80f, 0x1.8p-80f, 0x1.8p-80f,
      0x1.8p-80f, 0x1.8p-80f },
      { 0x1p-71f, 0x1p-71f, 0x1p-71f, 0x1p-71f, 0x1p-71f, 0x1p-71f, 0x1p-71f, 0x1p-71f }, 0x1.01p-140f, 0 },
    /* and of f16, with -14: 2.5 2^-24 is a tie, which 2^-40 does not break and 2^-39 does */
    { "h200", F16_F16, 0x1p-23f, { 0x1p-12f, 0x1p-20f }, { 0x1p-13f, 0x1p-20f }, 0x1p-23f, 0 },
    { "h200", F16_F16, 0x1p-23f, { 0x1p-12f, 0x1p-20f }, { 0x1p-13f, 0x1p-19f }, 0x1.8p-23f, 0 },
    /* subnormal results */
    { "h200", BF16_F32, 0, { 0x1.8p-80f }, { 0x1p-69f }, 0x1p-149f, 0 },
    { "h200", BF16_F32, 0, { 0x1p-80f }, { 0x1p-70f }, 0, 0 },
    { "h200", F16_F16, 0, { 0x1.8p-12f }, { 0x1p-12f }, 0x1p-23f, 0 },
    /* zeros are +0 */
    { "h200", BF16_F32, -0.0f, { -0.0f }, { 1 }, 0, 0 },
    { "h200", BF16_F32, 0, { -0x1p-80f }, { 0x1p-70f }, 0, 0 },
    { "h200", F16_F16, -0.0f, { -0x1p-20f }, { 0x1p-20f }, 0, 0 },
    { "h200", BF16_F32, -0.0f, { 1, 1 }, { 0x1p10f, -0x1p10f }, 0, 0 },
    /* beyond the range, and back into it */
    { "h200", BF16_F32, 0, { 0x1p100f }, { 0x1p100f }, INFINITY, 0 },
    { "h200", BF16_F32, 0, { -0x1p64f }, { 0x1p64f }, -INFINITY, 0 },
    { "h200", BF16_F32, 0x1.fffffep127f, { 1 }, { 0x1p103f }, 0x1.fffffep127f, 0 },
    { "h200", BF16_F32, 0x1p100f, { 0x1p120f, 0x1p120f }, { 0x1p100f, -0x1p100f }, 0, 0 },
    { "h200", BF16_F32, -0x1p127f, { 0x1p64f }, { 0x1p64f }, 0x1p127f, 0 },
    { "h200", F16_F16, 65504, { 1 }, { 15 }, 65504, 0 },
    { "h200", F16_F16, 65504, { 1 }, { 16 }, INFINITY, 0 },
    { "h200", F16_F16, -65504, { 1 }, { -16 }, -INFINITY, 0 },
    /* infinities and NaN */
    { "h200", BF16_F32, INFINITY, { 1 }, { 1 }, INFINITY, 0 },
    { "h200", BF16_F32, 1, { -INFINITY }, { 2 }, -INFINITY, 0 },
    { "h200", BF16_F32, 1, { -INFINITY }, { -INFINITY }, INFINITY, 0 },
    { "h200", BF16_F32, 0, { INFINITY, 0x1p120f }, { 1, -0x1p120f }, INFINITY, 0 },
    { "h200", BF16_F32, 0, { INFINITY }, { -0.0f }, 0, NOT_A_NUMBER },
    { "h200", BF16_F32, 0, { INFINITY, INFINITY }, { 1, -1 }, 0, NOT_A_NUMBER },
    { "h200", BF16_F32, -INFINITY, { INFINITY }, { 1 }, 0, NOT_A_NUMBER },
    { "h200", BF16_F32, -NAN, { 1 }, { 1 }, 0, NOT_A_NUMBER },
    { "v100", F16_F16, 1, { NAN }, { 1 }, 0, NOT_A_NUMBER },
    /* tf32 is cut when it is read */
    { "h200", MMA_TF32, MMA_TO_F32, 0, { 0x1.002ffep0f }, { 1 }, 1, 0 },
    { "a100", MMA_TF32, MMA_TO_F32, 0, { 0x1.004p0f }, { -0x1.003ffep0f }, -0x1.004p0f, 0 },
    /* the largest sum of a step: more than 31 bits */
    { "h200", BF16_F32, 0x1.fffffep0f, { 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f,
      0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f },
      { 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f,
      0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f, 0x1.fep0f }, 65.5009765625f - 0x1p-17f, 0 },
    /* sixteen products are two steps on A100 and one on H200; each step loses its 2^-24 */
    { "a100", BF16_F32, 0, { 1, 0x1p-12f, 0, 0, 0, 0, 0, 0, 0x1p-12f }, { 1, 0x1p-12f, 0, 0, 0, 0, 0, 0, 0x1p-12f },
      1, 0 },
    { "h200", BF16_F32, 0, { 1, 0x1p-12f, 0, 0, 0, 0, 0, 0, 0x1p-12f }, { 1, 0x1p-12f, 0, 0, 0, 0, 0, 0, 0x1p-12f },
      1 + 0x1p-23f, 0 },
    { "v100", F16_F16, 0, { 1, 0x1p-5f, 0, 0, 0x1p-5f }, { 1, 0x1p-6f, 0, 0, 0x1p-6f }, 1, 0 },
};
// clang-format on

enum { MMA_HANDS = sizeof mma_hands / sizeof mma_hands[0] };

#endif

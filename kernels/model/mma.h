/* mma.h - the arithmetic of NVIDIA's tensor cores, bit for bit, in integers: one rule, a table row per GPU.
 *
 * One output element of an instruction with K products is a chain of steps, each
 *
 *     d = cut(c + sum_{t<P} a_t b_t),        d is the next step's c
 *
 *   1. Products are exact.  A product's exponent is ea + eb, not renormalised (its significand lies in [1,4)); c is one
 *      addend more, with its own.  Subnormal numbers are kept, with the least exponent of their type and a significand
 *      below 1.
 *   2. E is the largest exponent of the products and c that are not zero, and at least the floor: emin + 18 - F, emin
 *      the least exponent of d's type.
 *   3. Every addend is cut toward zero to a multiple of 2^(E-F); the multiples are added exactly.
 *   4. d = f32: the sum is cut toward zero to 24 bits, or to multiples of 2^-149.  d = f16: rounded to nearest even.
 *      Beyond the type's range d is infinite.  A zero is +0, whatever it comes from.
 *   5. A NaN, Inf times zero, or infinities of both signs give the NaN 0x7fffffff (0x7fff in f16); else an infinity
 *      among the addends is d.
 *
 * P and F (mma_cores): 4 and 23 on V100; 8 and 24 on A100, A2, Ada; 16 and 25 on H100, H200, B200; half as many
 * products of tf32, which is cut to 10 fraction bits when it is read.
 *
 * Evidence.  Vectors of V100, A100, L40S and H200 (tests/vectors): 1, 3, 4 for numbers near 1, P and F.  Models of two
 * groups that ran the GPUs: Khattak, Mikaitis, ACM TACO, doi 10.1145/3830409 and arXiv 2512.07004 (their repository
 * MATLAB-tensor-core, commit b12b5a7), and Xie et al., arXiv 2511.10909 (MMA-Sim 2.1.1).  Both give P and F; that a
 * zero has no exponent; and floors of -133 (F = 25) and -132 (F = 24) for d = f32, -21, -20, -19 (F = 25, 24, 23) for
 * d = f16, which is emin + 18 - F.  The floor can be seen only where c is zero: another addend of f32 has -126 or more.
 * -126, which stood here before, was that of MMA-Sim's first version, which has given it up.
 * Only a GPU can confirm: the floor; +0 where a negative sum is cut to nothing (MMA-Sim; the other group compares
 * values); the exponent -14 of a subnormal c of f16 (MMA-Sim; the other group normalises it); a NaN of tf32 whose bits
 * all lie below the cut, which is read as an infinity; chains on B200's tcgen05, known of H100's wgmma alone.
 *
 * Error: lemma R-TENSOR: a step of k products errs by at most (k+2) 2^-23 of the sum of the magnitudes, for every row
 * of the table, and by 17 2^-23 2^emin |b| more beside a product of b with a subnormal number.
 * C11, and C++17 under gcc and clang.
 */
#ifndef ATTEST_MODEL_MMA_H
#define ATTEST_MODEL_MMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Types of a and b; of c and d. */
typedef enum mma_input { MMA_BF16 = 0, MMA_F16 = 1, MMA_TF32 = 2, MMA_INPUTS = 3 } mma_input;
typedef enum mma_output { MMA_TO_F32 = 0, MMA_TO_F16 = 1 } mma_output;

enum { MMA_K = 16, MMA_CORES = 8 }; /* MMA_K: the most products of a step */

/* A GPU: products a step by type of a and b, 0 where it has none; F. */
typedef struct mma_core {
    const char *gpu, *target;
    int products[MMA_INPUTS];
    int fraction;
} mma_core;

// clang-format off
static const mma_core mma_cores[MMA_CORES] = {
    /* GPU     target     bf16 f16 tf32   F */
    { "v100",  "sm_70",  {  0,  4,  0 }, 23 },
    { "a100",  "sm_80",  {  8,  8,  4 }, 24 },
    { "a2",    "sm_86",  {  8,  8,  4 }, 24 },
    { "ada",   "sm_89",  {  8,  8,  4 }, 24 },
    { "l40s",  "sm_89",  {  8,  8,  4 }, 24 },
    { "h100",  "sm_90",  { 16, 16,  8 }, 25 },
    { "h200",  "sm_90",  { 16, 16,  8 }, 25 },
    { "b200",  "sm_100", { 16, 16,  8 }, 25 },
};
// clang-format on

/* What the rule needs to know of an instruction. */
typedef struct mma_rule {
    int products, fraction, floor;
    int least_in, least_out; /* exponents of the types' subnormal numbers */
    int to_f16, tf32;
} mma_rule;

/* The rule of a GPU for a type of a and b and a type of d.  products = 0: it has no such instruction (f16 sums only
 * products of f16). */
static inline mma_rule mma_rule_of(const mma_core *core, mma_input input, mma_output output)
{
    mma_rule rule;
    rule.to_f16 = output == MMA_TO_F16;
    rule.tf32 = input == MMA_TF32;
    rule.products = rule.to_f16 && input != MMA_F16 ? 0 : core->products[input];
    rule.fraction = core->fraction;
    rule.least_in = input == MMA_F16 ? -14 : -126;
    rule.least_out = rule.to_f16 ? -14 : -126;
    rule.floor = rule.least_out + 18 - rule.fraction;
    return rule;
}

/* The row of a GPU by its name, NULL: none. */
static inline const mma_core *mma_core_of(const char *gpu)
{
    for (int n = 0; n < MMA_CORES; n++)
        if (strcmp(mma_cores[n].gpu, gpu) == 0)
            return &mma_cores[n];
    return NULL;
}

static inline uint32_t mma_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float mma_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An entry of a or b as it is read. */
static inline float mma_read(const mma_rule *rule, float x)
{
    return rule->tf32 ? mma_float(mma_bits(x) & 0xffffe000u) : x;
}

/* ---- a step in integers ------------------------------------------------------------------------------------ */

/* significand 2^(exponent-point), point 23 of a number and 22 of a product; significand 0 for zero. */
typedef struct mma_term {
    int64_t significand; /* signed */
    int exponent;
} mma_term;

/* x finite; numbers below 2^least have the exponent least.  Nothing is lost: a number of that type has no bit below. */
static inline mma_term mma_split(float x, int least)
{
    const uint32_t bits = mma_bits(x);
    const int field = (int)(bits >> 23 & 0xff), exponent = field ? field - 127 : -126;
    const int64_t size = (int64_t)((bits & 0x7fffff) | (field ? 1u << 23 : 0));
    const int below = exponent < least ? (least - exponent < 24 ? least - exponent : 24) : 0;
    mma_term term;
    term.significand = bits >> 31 ? -(size >> below) : size >> below;
    term.exponent = exponent < least ? least : exponent;
    return term;
}

/* a b of numbers of at most 11 bits, whose lower 12 of 24 are zero. */
static inline mma_term mma_product(mma_term a, mma_term b)
{
    mma_term term;
    term.significand = (a.significand / 4096) * (b.significand / 4096);
    term.exponent = a.exponent + b.exponent;
    return term;
}

/* significand 2^shift, cut toward zero; shift is at most 3 where the significand is not 0. */
static inline int64_t mma_align(int64_t significand, int shift)
{
    const int64_t size = significand < 0 ? -significand : significand;
    const int64_t moved = size == 0 ? 0 : shift >= 0 ? size << shift : shift > -63 ? size >> -shift : 0;
    return significand < 0 ? -moved : moved;
}

/* x, below 2^100, rounded to f16: 2^52 last places of x in f16 are added, which rounds x there, and taken off again. */
static inline float mma_round_f16(double x)
{
    uint64_t bits;
    double power;
    memcpy(&bits, &x, sizeof bits);
    bits = bits >> 52 << 53 >> 1; /* no sign */
    memcpy(&power, &bits, sizeof power);
    const double large = (power > 0x1p-14 ? power : 0x1p-14) * 0x1.8p42;
    double rounded = x + large - large; /* a zero is +0 */
    rounded = rounded > 65504 ? (double)INFINITY : rounded;
    rounded = rounded < -65504 ? -(double)INFINITY : rounded;
    return (float)rounded;
}

/* sum 2^unit as d. */
static inline float mma_cut(const mma_rule *rule, int64_t sum, int unit)
{
    if (sum == 0)
        return 0;
    if (rule->to_f16)
        return mma_round_f16(ldexp((double)sum, unit));
    const uint64_t size = (uint64_t)(sum < 0 ? -sum : sum);
    const int spare = 64 - __builtin_clzll(size) - 24, below = -149 - unit;
    int drop = spare > below ? spare : below;
    drop = drop < 0 ? 0 : drop;
    const float kept = drop > 63 ? 0 : ldexpf((float)(size >> drop), unit + drop);
    return sum < 0 && kept > 0 ? -kept : kept;
}

/* d where an addend is infinite or NaN, among `count` products and c. */
static inline float mma_special(const mma_rule *rule, float c, const float *a, const float *b, int64_t stride,
                                int count)
{
    int up = c == INFINITY, down = c == -INFINITY, none = c != c;
    for (int t = 0; t < count; t++) {
        const float x = mma_read(rule, a[t]), y = mma_read(rule, b[t * stride]);
        const int either = isinf(x) || isinf(y), minus = (mma_bits(x) ^ mma_bits(y)) >> 31 != 0;
        none |= x != x || y != y || (either && (x == 0 || y == 0));
        up |= either && !minus;
        down |= either && minus;
    }
    return none || (up && down) ? mma_float(0x7fffffffu) : up ? INFINITY : -INFINITY;
}

/* One step: `count` <= rule->products products of a[t] and b[t stride], which are numbers of the input's type held as
 * floats; c is one of the output's type.  Fewer products than a step has: the rest of it is zeros. */
static inline float mma_step(const mma_rule *rule, float c, const float *a, const float *b, int64_t stride, int count)
{
    mma_term product[MMA_K];
    const mma_term start = mma_split(c, rule->least_out);
    int largest = start.significand && start.exponent > rule->floor ? start.exponent : rule->floor;
    int special = !isfinite(c);
    for (int t = 0; t < count; t++) {
        const float x = mma_read(rule, a[t]), y = mma_read(rule, b[t * stride]);
        special |= !isfinite(x) || !isfinite(y);
        product[t] = mma_product(mma_split(x, rule->least_in), mma_split(y, rule->least_in));
        if (product[t].significand && product[t].exponent > largest)
            largest = product[t].exponent;
    }
    if (special)
        return mma_special(rule, c, a, b, stride, count);
    const int unit = largest - rule->fraction;
    int64_t sum = mma_align(start.significand, start.exponent - 23 - unit);
    for (int t = 0; t < count; t++)
        sum += mma_align(product[t].significand, product[t].exponent - 22 - unit);
    return mma_cut(rule, sum, unit);
}

/* c + sum_{t<count} a_t b_t: a chain of as many steps as that takes. */
static inline float mma_add(const mma_rule *rule, float c, const float *a, const float *b, int64_t count)
{
    for (int64_t t = 0; t < count; t += rule->products)
        c = mma_step(rule, c, a + t, b + t, 1, (int)(count - t < rule->products ? count - t : rule->products));
    return c;
}

#endif

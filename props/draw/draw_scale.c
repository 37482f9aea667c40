/* draw_scale.c - k_scale and v_scale, and the numbers of 8 bits that k and v are under them. */
#include "props/draw/family_distribution.h"

#include "kernels/attest_float.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS_LOOKED_AT = 64 };

/* Families whose numbers k and v have to have as they are drawn: their scales are 1. */
static int is_exact(const attest_case *c)
{
    static const size_t exact[] = { FAMILY_ONES,      FAMILY_DYADIC,       FAMILY_ONEHOT,
                                    FAMILY_SUBNORMAL, FAMILY_CAST_EDGE,    FAMILY_NEAR_ZERO_DENOMINATOR,
                                    FAMILY_INTEGERS,  FAMILY_TAYLOR_ROOTS, FAMILY_P_UNDERFLOW };
    for (size_t n = 0; n < sizeof exact / sizeof exact[0]; n++)
        if (attest_family_of(c) == &attest_families[exact[n]])
            return 1;
    return 0;
}

static double number(attest_exact x)
{
    return attest_to_f64(ATTEST_F64, attest_round_scaled(ATTEST_F64, x.negative, x.significand, x.exponent, x.sticky));
}

void attest_draw_row(attest_exact *row, const attest_distribution *distribution, attest_place at, int64_t width)
{
    const int shrinks = distribution->stream.tensor == ATTEST_K &&
                        attest_axis_value_of(distribution->p, ATTEST_AXIS_UPDATE) != ATTEST_UPDATE_ADD;
    for (at.channel = 0; at.channel < width; at.channel++)
        row[at.channel] = distribution->value(distribution, at);
    const int shrink = shrinks ? attest_key_shrink(row, width) : 0;
    for (int64_t c = 0; c < width; c++)
        row[c].exponent -= shrink;
}

/* The largest number of KV head (b,g) of k or v in 64 of its tokens. */
static attest_status largest(double *most, const attest_case *c, uint32_t role, uint32_t case_number, int64_t b,
                             int64_t g, attest_error *err)
{
    attest_distribution distribution;
    const int64_t m = c->problem.m, width = role == ATTEST_K ? c->problem.d : c->problem.e;
    const int64_t looked = m < TOKENS_LOOKED_AT ? m : TOKENS_LOOKED_AT;
    attest_exact *row = calloc((size_t)width, sizeof *row);
    if (!row)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a row of %lld values", (long long)width);
    attest_distribution_make(&distribution, c, role, case_number);
    *most = 0;
    for (int64_t n = 0; n < looked; n++) {
        attest_draw_row(row, &distribution, (attest_place){ b, g, n * m / looked, 0 }, width);
        for (int64_t channel = 0; channel < width; channel++)
            *most = fmax(*most, fabs(number(row[channel])));
    }
    free(row);
    return ATTEST_OK;
}

/* By what the problem computes and its sizes, so that one head is not drawn alike in all cases of a suite; how tensors
 * lie does not matter. */
static int64_t turn_of(const attest_problem *p)
{
    uint64_t turn = (uint64_t)p->m * 31 + (uint64_t)p->d;
    for (uint32_t axis = 0; axis < ATTEST_AXIS_COUNT; axis++)
        if (axis != ATTEST_AXIS_PAGES && axis != ATTEST_AXIS_PACKED)
            turn = turn * 31 + p->axis[axis].value;
    return (int64_t)(turn & 0xffff);
}

static double most_of(uint32_t dtype) { return dtype == ATTEST_F8_E4M3 ? 448 : 57344; }

/* One head of eight has scale 1, one a scale near 1, the others of [2^-8, 2), as those of a calibration are: not less
 * than the scale under which nothing leaves 8 bits.  One of 16 a smaller one, as where a scale is a guess: what is more
 * than half of the largest number may be cut.  Three of 16 a scale so large that numbers lie about the least
 * normal one of 8 bits: many are subnormal. */
static double scale_law(const uint32_t words[4], uint32_t dtype, double largest_number)
{
    const double part = (double)(words[0] >> 8 | 1) * 0x1p-24, full = largest_number / most_of(dtype);
    const unsigned kind = words[1] >> 29;
    double x = kind == 0 ? 1 : kind == 1 ? 0.75 + part / 2 : ldexp(1 + part, -(int)(words[1] % 9));
    if (largest_number > 0 && (kind == 2 || words[1] >> 28 == 7))
        x = ldexp(largest_number * (1 + part), -attest_format_of(dtype).emin - 1 - (int)(words[1] % 3));
    else if (largest_number > 0 && words[1] >> 28 == 6)
        x = full * (0.5 + part / 2);
    else if (x < full)
        x = full * (1 + part);
    return x;
}

attest_status attest_draw_kv_scale(uint64_t *bits, const attest_case *c, uint32_t role, uint32_t case_number, int64_t b,
                                   int64_t g, attest_error *err)
{
    const uint32_t numbers = role == ATTEST_K_SCALE ? ATTEST_K : ATTEST_V;
    const attest_tensor_id id = { ATTEST_KIND_ROLE, role };
    const attest_stream stream = { c->seed, case_number, attest_tensor_draw_number(id) };
    attest_status status = ATTEST_OK;
    uint32_t words[4];
    double most = 0; /* not known of a family that is files */
    *bits = attest_from_f64(ATTEST_F32, 1);
    if (is_exact(c))
        return ATTEST_OK;
    if (!attest_family_folder(c))
        ATTEST_TRY(largest(&most, c, numbers, case_number, b, g, err));
    attest_draw_words(words, &stream, 0, attest_place_index((attest_place){ b, g, turn_of(&c->problem), 0 }));
    *bits = attest_from_f64(ATTEST_F32, scale_law(words, attest_kv_dtype(&c->problem), most));
out:
    return status;
}

uint64_t attest_round_over(uint32_t dtype, attest_exact x, double scale)
{
    const double most = most_of(dtype), y = number(x) / scale;
    return attest_from_f64(dtype, y > most ? most : y < -most ? -most : y);
}

/* family_distribution.h - private to props/: exact drawn values, and what a family needs to make them.
 *
 * A drawn value is exact, (-1)^negative * significand * 2^exponent, plus something below the last bit if
 * `sticky`; it is rounded once, by attest_round_scaled().  Integer arithmetic only.
 */
#ifndef ATTEST_FAMILY_DISTRIBUTION_H
#define ATTEST_FAMILY_DISTRIBUTION_H

#include "props/draw/family.h"
#include "props/draw/rng.h"

typedef struct attest_exact {
    uint64_t significand;
    int exponent;
    int negative;
    int sticky;
} attest_exact;

/* Rows of attest_families and attest_distributions. */
enum {
    FAMILY_NORMAL,
    FAMILY_UNIFORM,
    FAMILY_FLAT,
    FAMILY_ONES,
    FAMILY_RAMP_UP,
    FAMILY_NEGATIVE,
    FAMILY_HUGE,
    FAMILY_RANGE,
    FAMILY_DYADIC,
    FAMILY_PEAKED,
    FAMILY_RAMP_DOWN,
    FAMILY_CANCEL,
    FAMILY_ONEHOT,
    FAMILY_REPEAT_MAX,
    FAMILY_SUBNORMAL,
    FAMILY_NEAR_ZERO_DENOMINATOR,
    FAMILY_CAST_EDGE,
    FAMILY_POSITIVE,
    FAMILY_INTEGERS,
    FAMILY_STAIRS,
    FAMILY_HALF_PEAK,
    FAMILY_LARGE_PRODUCTS,
    FAMILY_TAYLOR_ROOTS,
    FAMILY_P_UNDERFLOW,
    FAMILY_ZERO_KEYS,
    FAMILY_OFFSET,
    FAMILY_EDGES,
    FAMILY_TRACE, /* the last one: it has no distribution */
    FAMILY_COUNT
};

/* Logical place of an element, as the draws are addressed. */
typedef struct attest_place {
    int64_t b, h, token, channel;
} attest_place;

typedef struct attest_distribution attest_distribution;

/* The value of one element of q, k or v (distribution->stream.tensor says which). */
typedef attest_exact (*attest_distribution_value)(const attest_distribution *distribution, attest_place at);

struct attest_distribution {
    const attest_problem *p;
    attest_stream stream; /* of the tensor that is drawn */
    double argument;
    attest_distribution_value value;
    /* Set by prepare, read by value; per family in family_distribution.c, family_edges.c, family_hard.c. */
    uint64_t share; /* q's factor is share * 2^share_exponent; at most 24 bits, 0 = no factor */
    int share_exponent;
    int key_exponent;   /* k's factor is 2^key_exponent */
    int noise_exponent; /* ramps, stairs, peaked, p-underflow: k's noise is uniform in +-2^noise_exponent */
    int negative;       /* sign of scale */
    int64_t amplitude;  /* dyadic: largest integer of q and k */
    int64_t period;     /* dyadic: one key channel in `period` is nonzero; near-zero-denominator:
                        * Taylor, 1, or 2 for orders above 7; stairs: keys of a step */
    int64_t root[2];    /* taylor-roots: r of even and of odd rows, times 2^40 */
};

typedef struct attest_distribution_info {
    double argument; /* when none is given */
    int zero;        /* 1: the argument may be 0; it is never negative */
    int below_emax;  /* it is at most 2^(emax - below_emax) of the input dtype */
    int whole;       /* not 0: it is a whole number from 1 to this, and below_emax does not count */
    void (*prepare)(attest_distribution *distribution); /* or NULL */
    attest_distribution_value value;
} attest_distribution_info;

extern const attest_distribution_info attest_distributions[FAMILY_COUNT];

/* Of family_edges.c: what the rows of attest_distributions point to. */
void attest_prepare_peaked(attest_distribution *distribution);
void attest_prepare_cancel(attest_distribution *distribution);
void attest_prepare_repeat(attest_distribution *distribution);
void attest_prepare_denominator(attest_distribution *distribution);
void attest_prepare_edge(attest_distribution *distribution);
attest_exact attest_value_peaked(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_cancel(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_onehot(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_repeat(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_subnormal(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_denominator(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_edge(const attest_distribution *distribution, attest_place at);

/* Of family_hard.c. */
void attest_prepare_stairs(attest_distribution *distribution);
void attest_prepare_half(attest_distribution *distribution);
void attest_prepare_large(attest_distribution *distribution);
void attest_prepare_roots(attest_distribution *distribution);
void attest_prepare_underflow(attest_distribution *distribution);
attest_exact attest_value_stairs(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_half(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_large(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_roots(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_underflow(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_zero_keys(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_offset(const attest_distribution *distribution, attest_place at);
attest_exact attest_value_plain(const attest_distribution *distribution, attest_place at);

/* Of draw_edges.c: how family edges draws the tensors that other families draw by fixed laws. */
typedef uint64_t (*attest_fixed_law)(const attest_stream *stream, attest_place at, uint32_t dtype);
attest_fixed_law attest_edge_law(const attest_problem *p, uint32_t role); /* NULL: by its fixed law */
int64_t attest_edge_length(const attest_stream *stream, int64_t b, int64_t m);

/* draw_scale.c: width values of row `at` of q, k or v; update=delta and efla: keys by attest_key_shrink(). */
void attest_draw_row(attest_exact *row, const attest_distribution *distribution, attest_place at, int64_t width);
/* draw_scale.c: k_scale or v_scale of KV head (b,g), the bits of f32; of kv=e4m3 and e5m2. */
attest_status attest_draw_kv_scale(uint64_t *bits, const attest_case *c, uint32_t role, uint32_t case_number, int64_t b,
                                   int64_t g, attest_error *err);
/* draw_scale.c: x over the scale as 8 bits hold it: what is too large becomes the largest. */
uint64_t attest_round_over(uint32_t dtype, attest_exact x, double scale);

/* draw_mask.c: all bytes of attn_mask, in C order. */
void attest_draw_mask(attest_tensor *t, const attest_stream *stream);
/* draw_mask.c: all bytes of keep, of dropout at this rate. */
void attest_draw_keep(attest_tensor *t, double rate, const attest_stream *stream);

/* x 2^40 with T_P(-x) 2^40 = target, order P from 1 to 15: the one place in [low, high] (times 2^40, high at most
 * attest_taylor_high()) where T_P - target changes its sign, by bisection, cut. Horner's steps are low by 2^-39 each
 * and grow by less than e^7: T_P is good to 2^-24, x to that over the slope there. */
int64_t attest_taylor_cross(uint32_t order, int64_t target, int64_t low, int64_t high);

/* 2^40 times a number above all of: -x_P; y with T_P(-y) = 1 (P even); x with T_P(-x) = -1 (P odd). */
int64_t attest_taylor_high(uint32_t order);

/* What channel n of q holds where the channels of q add up to target 2^-124/|scale|, good to 2^-60 relative, with the
 * sign given: what the n channels before it leave, rounded to the dtype; the last bits are 0 beyond 62 bits. */
attest_exact attest_part_of_score(const attest_distribution *distribution, unsigned __int128 target, int negative,
                                  int64_t n);

/* value * 2^exponent, cut to 64 bits with a sticky rest. */
attest_exact attest_exact_wide(__int128 value, int exponent);

/* The distribution of tensor q, k or v, prepared; the family must have passed attest_family_check(). */
void attest_distribution_make(attest_distribution *distribution, const attest_case *c, uint32_t role,
                              uint32_t case_number);

/* The folder of family=trace:DIR, else NULL. */
const char *attest_family_folder(const attest_case *c);

/* Smallest s >= 0 with norm2(row)^2 4^-s <= 3/4: then b norm2(phi(k))^2 < 2 for every b < 2, also after rounding
 * to bf16 (3/4 (1+2^-8)^2 2 < 2), for the features with |phi(x)| <= |x|.  Sums upper bounds in units of 4^unit;
 * the largest value of the row keeps 32 bits. */
int attest_key_shrink(const attest_exact *row, int64_t count);

attest_exact attest_distribution_normal(const attest_stream *stream, attest_place at);
uint64_t attest_place_index(attest_place at);

#endif

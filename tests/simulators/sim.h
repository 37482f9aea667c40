/* sim.h - a modelled kernel: the programs of arithmetic whose worst rounding errors are compared with the bounds.
 *
 * A program is a function that records on a tape what one kernel does for one query row, each operation with the unit
 * that its declared numerics give it.  sim_options picks between the legal ways to write it.
 */
#ifndef ATTEST_TESTS_SIM_H
#define ATTEST_TESTS_SIM_H

#include "kernels/attest_float.h"
#include "kernels/tensor/tensor.h"
#include "tests/simulators/tape.h"

enum { SIM_KEYS = 1024, SIM_DIM = 32, SIM_VALUES = 32, SIM_MONOMIALS = 512, SIM_CONSTANTS = 128, SIM_CUTS = 1 << 14 };

typedef struct sim_constant {
    long double value;
    num node;
} sim_constant;

/* The ways to write a program.  0 is the plainest. */
typedef enum sim_scale { SCALE_SCORE, SCALE_Q, SCALE_K, SCALE_ROOTS, SCALE_DIVIDE } sim_scale;
/* TENSOR: instructions of 4 exact products and the accumulator, aligned and cut (R-TENSOR).  LANES: fused, in 4 lanes
 * that are added pairwise. */
typedef enum sim_sum { SUM_SERIAL, SUM_PAIRS, SUM_BLOCKS, SUM_FMA, SUM_LANES, SUM_TENSOR } sim_sum;
/* EXP_FMA: weights by fma(s, c, -fl(m c)), the factors of later maxima by (m - m') c; STORED: maxima are kept as
 * fl(m c); BOTH: factors as the weights. */
typedef enum sim_exp { EXP_NATURAL, EXP_BASE2, EXP_BASE2_LAST, EXP_FMA, EXP_FMA_STORED, EXP_FMA_BOTH } sim_exp;
typedef enum sim_divide { DIVIDE_LAST, DIVIDE_THEN_CAST, DIVIDE_AFTER_CAST } sim_divide;
/* CHAIN: parts one after another into (o, lse), a quotient each; CHAIN_FREE: by e^(lse_part - lse), without a quotient;
 * TREE: as CHAIN, halves first; SIGMOID: o - r (o - o_part), r = sigmoid(lse_part - lse), and lse - log(1 - r). */
typedef enum sim_merge {
    MERGE_LSE,
    MERGE_FREE,
    MERGE_SUMS,
    MERGE_CHAIN,
    MERGE_CHAIN_FREE,
    MERGE_TREE,
    MERGE_SIGMOID
} sim_merge;
typedef enum sim_poly { POLY_DIVIDE, POLY_RECIPROCAL, POLY_POWERS } sim_poly;
/* EXP: (1 - e^-2x)/(1 + e^-2x); ONE: 1 - 2/(e^2x + 1). */
typedef enum sim_tanh { TANH_CALL, TANH_EXP, TANH_ONE } sim_tanh;
typedef enum sim_rate { RATE_EXPM1, RATE_EXP } sim_rate;
/* FOLDED: (<q,k> + bias/scale) scale; FIRST: the same, the accumulator starts with it; NARROWED: to the type of stored
 * scores, then added; BASE2, beside EXP_BASE2: score log2(e) + bias log2(e). */
typedef enum sim_bias { BIAS_ADDED, BIAS_FOLDED, BIAS_FIRST, BIAS_NARROWED, BIAS_BASE2 } sim_bias;
/* KEY: slope j; LAST: slope (j - (m - 1)); FOLDED: (<q,k> + (slope/scale) j) scale. */
typedef enum sim_alibi { ALIBI_DISTANCE, ALIBI_KEY, ALIBI_LAST, ALIBI_FOLDED } sim_alibi;
/* Of alibi=usual.  POWER: of a rounded base; PRODUCT: of that base, one by one; EXP: e^(-x ln 2). */
typedef enum sim_slope { SLOPE_EXP2, SLOPE_POWER, SLOPE_PRODUCT, SLOPE_EXP } sim_slope;
typedef enum sim_elu { ELU_EXP, ELU_EXPM1 } sim_elu;
/* ENDS: phi(q) and phi(k) are stored; STEPS: what leads to them, and rope's terms, too. */
typedef enum sim_features { FEATURES_KEPT, FEATURES_ENDS, FEATURES_STEPS } sim_features;
typedef enum sim_norm { NORM_DIVIDE, NORM_RECIPROCAL } sim_norm;
/* LOGS: e^(L_i - L_j), L the sums of the logarithms from token 0 on. */
typedef enum sim_decay { DECAY_PRODUCT, DECAY_POWER, DECAY_LOGS } sim_decay;
/* SIGMOID: silu = x (1/(1 + e^-x)); CALL: x times a sigmoid of its own error. */
typedef enum sim_silu { SILU_DIVIDE, SILU_SIGMOID, SILU_CALL } sim_silu;
/* A chunk is summed by itself and added to the state; its tokens are added to the state one by one; chunks are added up
 * in a tree. */
typedef enum sim_chunks { CHUNKS_SUMMED, CHUNKS_INTO, CHUNKS_TREE } sim_chunks;
/* A query behind the last key: its state is decayed token by token, or once by the product. */
typedef enum sim_behind { BEHIND_STEPS, BEHIND_ONCE } sim_behind;

/* Of keys of 8 bits, what k_scale multiplies: keys, the query, the product before the scale, the scale. */
typedef enum sim_cache { CACHE_KEYS, CACHE_QUERY, CACHE_PRODUCT, CACHE_SCALE } sim_cache;

/* What 1/(1-R), or v_scale of values of 8 bits, multiplies: weights before their cast, after it, or after one and
 * before another; values; sums; the quotient.  BELOW: 1-R multiplies the denominator; DIVIDE: weights are divided by
 * it. */
typedef enum sim_drop {
    DROP_BEFORE,
    DROP_AFTER,
    DROP_TWICE,
    DROP_VALUES,
    DROP_SUM,
    DROP_QUOTIENT,
    DROP_BELOW,
    DROP_DIVIDE
} sim_drop;

typedef struct sim_options {
    uint32_t schedule; /* of a kernel that does not declare it */
    sim_scale scale;
    sim_sum sum;
    sim_exp exp;
    sim_divide divide;
    sim_merge merge;
    sim_poly poly;
    sim_tanh tanh;
    sim_bias bias;
    sim_alibi alibi;
    sim_slope slope;
    int head; /* the query head that is modelled */
    sim_rate rate;
    sim_elu elu;
    sim_norm norm;
    sim_decay decay;
    sim_silu silu;
    sim_chunks chunks;
    sim_behind behind;
    sim_drop drop;
    sim_cache cache;
    uint32_t scaled;       /* 1 + attest_dtype that scaled q and k are rounded to */
    sim_features features; /* phi(q) and phi(k) are rounded to `scaled`, before anything reads them */
    int turned;            /* numbers after rope are rounded to it, before a feature reads them */
    int decayed;           /* chunks: keys times decays are rounded to it; queries too where each channel has one */
    int queries;           /* queries times decays are */
    int values;            /* values times decays, in place of keys, where a token has one decay */
    int middle;            /* both factors of a pair, decayed to a token between them */
    int written;           /* delta: what is written is rounded to it, before anything reads it */
    int sink_in_lse;       /* lse includes the sink, the maximum does not */
    int parts_of_all;      /* parts are cut from all keys, seen or not: some are empty */
    int sink_in_max;       /* the sink is one of the numbers that the maximum is taken of */
    int sink_by_lse;       /* the quotient without the sink times sigmoid(lse - sink) */
    int apart;             /* delta: b v and b k S are rounded by themselves */
    int cast_in_sum;       /* the denominator adds the cast weights */
    int undo_shift;        /* exponentials of s - max, and e^max at the end */
    double worse;          /* every rounding so many times as large as declared; 0: 1 */
    int power_late;        /* states: scale^n/n! multiplies the finished product of q and state */
    int gated;             /* gin v is rounded to it */
    int parts_stored;      /* the quotients of parts are rounded to state_dtype, or where that is 0 to `out`, once */
    int narrow_range;      /* the accumulator has the range of f16 too */
    int no_shift;          /* exponentials of the scores themselves, whatever the schedule says */
} sim_options;

/* What rounds what. */
typedef struct sim_units {
    tape_unit input; /* what reading an input may do: nothing, or flush it */
    tape_unit acc, sum, exp, expm1, div, log, function, cast, state, out, scale, scaled, score, tanh, sigmoid;
} sim_units;

typedef struct sim {
    tape tape;
    const sim_options *options;
    const attest_numerics *numerics;
    uint32_t flags;
    attest_case c;
    const attest_problem *p;
    attest_bundle *bundle;
    sim_units unit;
    sim_constant constant[SIM_CONSTANTS];
    int constants;
    num slope;       /* of alibi=usual; -1: not yet */
    num scale, root; /* as the program has them; -1: not yet */
    num decay[SIM_KEYS][SIM_DIM];
    num log_sum[SIM_KEYS][SIM_DIM]; /* of the logarithms of decays up to a token; -1: not yet */
    tape_unit *cut[SIM_CUTS];       /* absolute errors of aligned addends, owned */
    int cuts;
    int casts;                            /* weights are cast to p */
    int finer;                            /* sums are rounded to acc at their end */
    int64_t i, first, last, keys, dim;    /* keys [first,last) are what mask, window and lens leave */
    unsigned char hidden[SIM_KEYS];       /* by attn_mask, among them */
    unsigned char dropped[SIM_KEYS];      /* by dropout */
    num q[SIM_DIM], k[SIM_KEYS][SIM_DIM]; /* features; scaled as the options say */
    num v[SIM_KEYS][SIM_VALUES];          /* gated */
    num score[SIM_KEYS];
    /* What the program leaves. */
    num o[SIM_VALUES], u[SIM_VALUES], z, lse;
    num state[SIM_MONOMIALS * SIM_VALUES];
    int has_u, has_z, has_lse, has_state;
} sim;

/* One operation. */
static inline num sim_add(sim *s, const tape_unit *unit, num a, num b)
{
    return tape_do(&s->tape, unit, TAPE_ADD, a, b);
}
static inline num sim_sub(sim *s, const tape_unit *unit, num a, num b)
{
    return tape_do(&s->tape, unit, TAPE_SUB, a, b);
}
static inline num sim_mul(sim *s, const tape_unit *unit, num a, num b)
{
    return tape_do(&s->tape, unit, TAPE_MUL, a, b);
}
static inline num sim_div(sim *s, num a, num b) { return tape_do(&s->tape, &s->unit.div, TAPE_DIV, a, b); }
static inline num sim_round(sim *s, const tape_unit *unit, num a) { return tape_do(&s->tape, unit, TAPE_ROUND, a, a); }
static inline num sim_max(sim *s, num a, num b) { return tape_do(&s->tape, NULL, TAPE_MAX, a, b); }
static inline num sim_call(sim *s, const tape_unit *unit, tape_op op, num a)
{
    return tape_do(&s->tape, unit, op, a, a);
}

/* sim_parts.c: what programs are made of. */
/* Parses nothing: sets units from numerics and flags, and the row's sizes; the bundle must hold all inputs. */
void sim_start(sim *s);
void sim_end(sim *s); /* gives back all that a problem took but the tape */
num sim_number(sim *s, long double x);
num sim_input(sim *s, attest_role role, int64_t i0, int64_t i1, int64_t i2, int64_t i3);
/* An entry of h0 or (below) z0. */
num sim_given_state(sim *s, int degree, int64_t row, int64_t c, int below);
uint32_t sim_axis(const sim *s, attest_axis axis);
num sim_total(sim *s, const num *x, int64_t count);             /* in the order of the options */
num sim_dot(sim *s, const num *a, const num *b, int64_t count); /* products, then their total */
num sim_largest(sim *s, const num *x, int64_t count);
/* Of x[first..last), a number for each key, those whose key attn_mask does not hide; returns their count. */
int64_t sim_seen(const sim *s, num *to, const num *x, int64_t first, int64_t last);
/* sim_token.c: x[0..dim-1] = phi of the query or key t at `position`. */
void sim_token(sim *s, num *x, attest_role role, int64_t t, int64_t position);
/* Features of the query and of the keys, values with their gates. */
void sim_tokens(sim *s);
/* Scores of the visible keys, with cap, alibi and clamp. */
void sim_scores(sim *s);
/* scale^n, n >= 1. */
num sim_scaled(sim *s, num x, num factor); /* x times factor, rounded to `scaled` if there is one */
num sim_scale_power(sim *s, int n);
/* Product of the decays after token j up to token i of a scalar decay (or of entry c); -1: it is 1. */
num sim_decay_of(sim *s, int64_t j, int64_t i, int64_t c);
int sim_decays(const sim *s);
num sim_decay_factor(sim *s, int64_t t, int64_t c);

/* sim_sums.c: dropout. */
int sim_drops(const sim *s); /* or v_scale is a factor of its own */
num sim_share(sim *s);       /* 1-R, as computed */
num sim_kept(sim *s, num x); /* x/(1-R): a product with the reciprocal of what is computed, or a division */
/* A weight, whose cast is the options'; `cast`: it is cast already. */
num sim_dropped(sim *s, num w, num cast);
/* Of w and v, numbers for the keys that are seen of [first,last), those that dropout keeps; returns their count. */
int64_t sim_keep(sim *s, num *w, num *v, int64_t first, int64_t last);

/* sim_finish.c: from u and z to the outputs: divisor, norm, gain and shift, gate, and the output's type. */
void sim_finish(sim *s, const num *u, num z);
void sim_output(sim *s, const num *o);

/* The programs. */
void sim_softmax(sim *s);    /* sim_softmax.c: two-pass, online, split or direct, as the numerics say */
void sim_mean(sim *s);       /* a running mean: o += w/l (v - o) */
void sim_polynomial(sim *s); /* sim_poly.c: weights of pairs */
void sim_recurrent(sim *s);  /* sim_state.c: states of monomials */
void sim_chunk(sim *s);
void sim_delta(sim *s);       /* sim_delta.c: token by token */
void sim_delta_chunk(sim *s); /* by forward substitution */

#endif

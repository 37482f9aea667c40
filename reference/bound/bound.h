/* bound.h - derived bounds and natural scales: the largest error of a kernel with these numerics.
 *
 * Answers the bound of each element from the declared numerics, the sizes and the row itself. Sees neither outputs
 * nor truth objects.
 *
 * Every number here is an upper bound: mag_t rounds up, and the double sums of bound_sums.c are inflated to
 * upper bounds by lemma R-DSUM.  Lower bounds of divisors come from arb.  Lemmas: reference/derivations.md.
 */
#ifndef ATTEST_BOUND_H
#define ATTEST_BOUND_H

#include "kernels/attest_float.h"
#include "reference/axis/axis.h"
#include "reference/engine/engine.h"

/* ---- bound_sums.c: sums over keys, in doubles that stay upper bounds -------------------------------- */
#define BOUND_SETS 5
#define BOUND_CHANNELS 16

/* coef[t][j] >= coefficient_t(j) * 2^-shift; value[j] is the column at hand. */
typedef struct bound_sums {
    int64_t keys;
    fmpz_t shift;
    double *coef[BOUND_SETS];
    double *value;
    double *channels; /* BOUND_CHANNELS channels of v side by side, those from decoded-1 on; 0: none yet */
    int64_t decoded;
    double top, raw_top;                   /* the largest entry of `value`, and of |v| before gates */
    double *gate, *gate_error, *gate_room; /* gates on values, NULL without: |gin - gate| <= gate_error */
} bound_sums;

attest_status bound_sums_init(bound_sums *sums, int64_t keys, attest_error *err);
void bound_sums_clear(bound_sums *sums);
/* Chooses the shift so that the largest of the arrays' entries is near 1, then fills coef[t] from set[t]
 * (NULL: absent). */
void bound_sums_fill(bound_sums *sums, mag_srcptr const set[BOUND_SETS]);
/* From here on `value` is made of gin_j v_jc instead of v_jc. */
void bound_sums_gates(bound_sums *sums, arb_srcptr gates);
/* value[j] = |v_jc| (gated: at least) for the keys key[0..keys) of v's KV head g. */
void bound_sums_values(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key, int64_t c);
/* v_jc, exact, of those keys. */
const double *bound_sums_channel(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key,
                                 int64_t c);
/* value[j] >= |v_jc - o|. */
void bound_sums_distances(bound_sums *sums, const attest_tensor *v, int64_t b, int64_t g, const int64_t *key, int64_t c,
                          const arb_t o);
void bound_sums_dot(mag_t out, const bound_sums *sums, int set);   /* sum_j coef value */
void bound_sums_total(mag_t out, const bound_sums *sums, int set); /* sum_j coef */
void bound_sums_root(mag_t out, const bound_sums *sums, int set);  /* sqrt(sum_j (coef value)^2) */
void bound_sums_sizes(mag_t out, const bound_sums *sums);          /* sum_j value */

/* ---- bound_input.c: what the formula does with inputs ------------------------------------------------ */
/* Absolute terms of the given states: u[e] (or NULL) and z; zero without state=draw. */
void bound_state_mass(mag_ptr u, mag_t z, const ref_inputs *in, attest_row at);
/* The largest of their entries. */
void bound_state_top(mag_t top, const ref_inputs *in, int64_t b, int64_t g);

/* ---- bound_model.c: a kernel's declared numerics as constants ------------------------------------------ */
typedef struct bound_model {
    const attest_problem *p;
    const attest_numerics *numerics;
    uint32_t flags;
    int exponential;    /* weight=exp */
    int direct;         /* weights per pair may occur */
    int recurrent;      /* states of monomials may occur */
    int unknown;        /* schedule not declared */
    int log2_domain;    /* exponents may pass through base 2 */
    int cast_common;    /* attest_tristate: the denominator adds the cast weights */
    int narrows;        /* `in` is wider than `acc`, or k and v are multiplied by scales: they are rounded once */
    int given;          /* states are given */
    int turns;          /* rope, cosformer, or a feature that divides by a norm */
    int decays, vector; /* decay is set; inside the product */
    int gates_values, gates_rows;
    int gates_inputs;     /* R-GATE: gates may be multiplied into q and k */
    int drops;            /* a number multiplies terms of u and not of z: dropout, v_scale (R-DROPOUT, R-KV-SCALE) */
    int products;         /* how many multiply a value, each of which may be stored: v_scale, gin, dropout's */
    int serial;           /* sums over keys and channels are declared to be serial (R-RUN) */
    int common;           /* factors that many exponentials have in common are known (R-COMMON) */
    int divides_first;    /* weights may be divided before they meet v (R-CAST, R-SUM) */
    int running;          /* the output may be a running mean (R-RUNNING) */
    int scales_inputs;    /* q, or q and k, may be scaled and rounded to a type narrower than acc */
    int stores;           /* so often does a product of q and k meet such roundings; 0 without */
    uint32_t stored_type; /* of what rope or a feature makes, where it is narrower than acc: 1 + dtype; 0 without */
    int stores_features;  /* phi(q) and phi(k), not what is stored anyway, may be rounded to the type of scaled ones */
    slong written_emax;   /* what a delta rule writes is at most 2^this, where it is stored */
    slong score_emin;     /* from 2^this on numbers are normal in all types that q, k and scores go through */
    int folds;            /* a bias, or an alibi by key, may be one more term of the product */
    int by_key;           /* alibi may be slope (j - C), C one number a row (R-ALIBI) */
    int plain;            /* a score is scale <q,k>: no feature, rotation, narrowing or decay in it */
    int likely;           /* roundings of sums may be taken for independent (R-PROBABILISTIC) */
    int stores_parts;     /* what parts of the keys leave is stored in a narrower type before it is merged (R-MERGE) */
    int likely_scores;    /* those of scores too, and that can matter */
    int64_t rows;         /* state rows of all degrees (recurrent) */
    int64_t full_rows;    /* the same of the full Kronecker layout */
    int64_t update; /* tokens between two updates of states in the tokens' order (R-UPDATE); 0: no order is declared */
    int degree;     /* P of a polynomial weight */
    mag_t u;        /* one rounding of acc */
    mag_t u_sum;    /* one rounding of its accumulator */
    mag_t u_exp, u_div, u_log;
    mag_t u_cast, tiny_cast;    /* cast of weights to p: relative, absolute; 0 without cast */
    mag_t u_state;              /* rounding of a stored state or part, 0 if it is kept in acc */
    mag_t u_scale;              /* rounding of the scale to its dtype */
    mag_t tiny;                 /* what one operation in acc loses by underflow */
    mag_t tiny_score, tiny_sum; /* the same in the accumulators of scores, of weights and values */
    mag_t operand, weight;      /* R-TENSOR: what steps lose of |v| beside a subnormal number of in, of p; else 0 */
    mag_t tiny_state;           /* and in storing a state or part; 0 if it is kept in acc */
    mag_t store, store_tiny;    /* storing a score: relative, absolute; 0 if it is kept in acc */
    mag_t scaled, scaled_tiny;  /* rounding a scaled q or k to a type: relative (in `score`), absolute; 0 without */
    /* 2^(emax-1) of the type of stored scores, of scaled q and k, of the accumulators, of states and theirs */
    mag_t store_limit, scaled_limit, score_limit, sum_limit, state_limit;
    mag_t normal;                /* 2^emin of acc */
    mag_t exp_tiny;              /* what an exponential below that errs by (R-EXP) */
    mag_t score;                 /* relative error of a score against its mass (R-SCORE) */
    mag_t score_scale;           /* the part of it that multiplies the finished product */
    mag_t score_likely;          /* R-PROBABILISTIC's in place of R-SCORE's */
    mag_t bias, bias_tiny;       /* of a bias before it is added: relative, absolute (R-STEP) */
    mag_t feature, feature_tiny; /* relative and absolute error of one feature (R-FEATURE) */
    mag_t written, written_tiny; /* storing what a delta rule writes: relative, absolute; 0 without */
    mag_t gated, gated_tiny;     /* storing gin v: relative, absolute; 0 without */
    mag_t kept, kept_error;      /* 1/(1-R) of dropout; relative error of a term that it multiplies; 1 and 0 without */
    mag_t shrink, spread;        /* max(1, 1/v_scale); max(k_scale, 1/k_scale), infinite where scale k_scale is not
                                    normal (R-KV-SCALE); 1 without.  v_scale above 1 is in `kept` */
    mag_t gated_limit;           /* 2^(emax-1) of the type that gin v is stored in; without, `limit` */
    mag_t stored, stored_tiny;   /* one rounding of what rope or a feature makes to stored_type; 0 without */
    mag_t turned, turned_tiny;   /* those of rope's terms, and before the feature: relative, absolute; 0 without */
    mag_t feature_norm;          /* feature_tiny sqrt(dim) */
    mag_t feature_lift;          /* rope: |phi(y)| <= |y| + lift, with the feature's own absolute error */
    mag_t turn_slope, u_wave;    /* rope: error of an angle at position 1; of sin and cos */
    mag_t wave;                  /* error of an entry of cosformer relative to relu(x) */
    mag_t scale;                 /* |scale| */
    mag_t room;                  /* max(1, 1/|scale|): how much larger than its mass an intermediate may be */
    mag_t limit;                 /* 2^(emax-1) of acc: no overflow below */
} bound_model;

void bound_model_init(bound_model *m);
void bound_model_clear(bound_model *m);
/* Returns 1: every axis value has its lemma. */
int bound_model_set(bound_model *m, const ref_inputs *in, const attest_numerics *numerics, uint32_t flags);
/* R-KV-SCALE: takes over the scales of KV head g of entry b; after bound_model_set(). */
void bound_model_scales(bound_model *m, const ref_inputs *in, int64_t b, int64_t g);
/* y *= factor (spread, shrink): to the last bit y itself where k and v have no scales. */
static inline void bound_stretch(mag_t y, const bound_model *m, const mag_t factor)
{
    if (attest_kv_scaled(m->p))
        mag_mul(y, y, factor);
}
/* R-FEATURE, R-ROTATE, R-UNIT: errors of features and rotations, which may be stored in a type narrower than acc (1 +
 * attest_dtype; 0: acc).  A part of bound_model_set(), after the units. */
void bound_model_features(bound_model *m, uint32_t type);
/* As much of it as the error of an axis value depends on; good as long as `m` is. */
axis_arithmetic bound_arithmetic(const bound_model *m);

/* ---- bound_token.c: features of a token ------------------------------------------------------------------- */
/* sum and maximum of |phi_c| over the channels of one token, upward. */
void bound_token_size(mag_t sum, mag_t max, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                      int64_t token);
/* |x|_1 and norm2(x) of the stored vector, upward. */
void bound_stored_size(mag_t sum, mag_t norm, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                       int64_t token);
/* R-ROTATE: error of a computed channel after rope and phi, relative to the sum of its pair before; cosformer: of an
 * entry, relative to relu(x). */
void bound_turn(mag_t rho, const bound_model *m, int64_t position);
/* R-UNIT: what rope changes in a vector of length 1, norm2; 0: the norm may overflow or underflow. */
int bound_unit(mag_t sigma, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
               int64_t token, int64_t position);
/* 1: q, k or v are multiplied by decays, and may be stored so (R-SCORE, R-HT, R-DELTA); softmax multiplies weights. */
int bound_decays_tokens(const bound_model *m);
/* 1: they may be rounded to a narrower type where they are stored so, beside other rows or at a chunk's end. */
int bound_stores_decayed(const bound_model *m);
/* v too: where a token has one decay. */
int bound_stores_values(const bound_model *m);
/* Absolute error of one entry of phi, beside F |phi_c|. */
void bound_entry_error(mag_t t, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b, int64_t head,
                       int64_t token, int64_t position);
/* |phi^ - phi| of a token as norm2, `size` = |phi| (R-FEATURE, R-ROTATE, R-UNIT); 0: no bound. */
int bound_token_error(mag_t y, const bound_model *m, const ref_inputs *in, attest_role role, const mag_t size,
                      int64_t b, int64_t head, int64_t token, int64_t position);
/* What the errors of the query's features do to the given states' terms: u[e] and z (R-STATE). */
void bound_state_errors(mag_ptr u, mag_t z, const bound_model *m, const ref_inputs *in, attest_row at);
/* What storing the query times decays adds to them: it meets the states as they were, with no decay. */
void bound_query_lost(mag_ptr u, mag_t z, const bound_model *m, const ref_inputs *in, attest_row at);
typedef struct bound_turned {
    mag_t rho, sigma, sum; /* of bound_turn(), bound_unit(), bound_stored_size() */
} bound_turned;
void bound_turned_init(bound_turned *t);
void bound_turned_clear(bound_turned *t);
int bound_turned_set(bound_turned *t, const bound_model *m, const ref_inputs *in, attest_role role, int64_t b,
                     int64_t head, int64_t token, int64_t position);
/* What the above add to the error of a score; `turn` as in ref_row. */
void bound_turned_score(mag_t y, const bound_model *m, const bound_turned *q, const bound_turned *k, const mag_t turn);

/* ---- bound_weights.c: errors of the weights of a row ------------------------------------------------------ */
typedef struct bound_weights {
    int64_t keys, range; /* of the row; with the masked ones between them (R-MASK) */
    int64_t past;        /* tokens that a state may be decayed and stored at: with lens also behind the last key */
    mag_ptr delta;       /* score errors */
    mag_ptr feature;     /* the part of delta that the features bring */
    mag_ptr token;       /* sum |phi(k_j)|; 0 where it is not needed */
    mag_ptr size;        /* |w| */
    mag_ptr likely;      /* as delta, by R-PROBABILISTIC; NULL: nothing is gained by it */
    /* Errors of weight j: score, exp (or polynomial), cast; coefficient of |v| (R-SUM); terms of a state (R-UPDATE), or
     * the part of `exp` that keys have not in common (R-COMMON). */
    mag_ptr set[BOUND_SETS];
    mag_t q_sum, q_max, k_max;
    mag_t delta_max, score_max;     /* score_max: of |s| + delta, and of what R-ALIBI shifts scores by */
    mag_t shift;                    /* that; 0 without */
    mag_t center;                   /* error of the computed center */
    mag_t unit, inverse;            /* truth's weight / kernel's weight, and back (e^M where exp is shifted, else 1) */
    mag_t extra_error;              /* error of sink or eps in the divisor */
    mag_t divisor;                  /* upper bound of |Z| */
    mag_t merge;                    /* exponent error of lse merges (R-MERGE) */
    mag_t gamma_sum;                /* relative error of a sum of products (R-SUM) */
    mag_t gamma_state;              /* the same for a readout of states (R-STATE) */
    mag_t gamma_term;               /* the part of it that is no sum over tokens or rows (R-UPDATE); else the same */
    mag_t likely_score;             /* R-PROBABILISTIC: the part of set[BOUND_SCORE] that is enough */
    mag_t likely_sum, likely_state; /* as gamma_sum and gamma_state */
    mag_t sum_tiny;                 /* the part of set[BOUND_SUM] that no gamma multiplies */
    mag_t cast_tiny;                /* the part of set[BOUND_CAST] that is underflow */
    mag_t lost, lost_state;         /* underflow, absolute: sums; states (times the largest |v|) */
    mag_t reach, state_reach;       /* largest intermediate sum of weights, in the kernel's scaling; times |v|; state */
    mag_t value_tiny;               /* absolute error of v as the kernel holds it */
    mag_t values_lost;              /* what storing v times decays adds to u */
    mag_t weight_max;               /* of |W| before decay */
    mag_t decay_most;               /* largest product of factors above 1 (R-DECAY); 1 without */
    mag_t decay_log;                /* exponent error of factors made by way of logarithms; 0: they cannot be */
    mag_t decay_made;               /* relative error of one factor that is made of its logarithm; else 0 */
    mag_t gate_value, gate_row, gate_tiny; /* relative errors of a gated value and row, absolute of a gate (R-GATE) */
    unsigned char *choice;                 /* [keys] filter: bound_choice */
    int64_t rescales, merges, logs;
    int extra_overflows; /* e^(sink - M) or eps e^-M may be infinite: then o may be 0 */
    int overflow;
} bound_weights;

enum bound_choice { BOUND_KEPT = 0, BOUND_DROPPED = 1, BOUND_OPEN = 2 };

enum { BOUND_SCORE = 0, BOUND_EXP = 1, BOUND_CAST = 2, BOUND_SUM = 3, BOUND_STATE = 4, BOUND_APART = 4 };

attest_status bound_weights_init(bound_weights *w, int64_t keys, attest_error *err);
void bound_weights_clear(bound_weights *w);
/* common = 1: a factor common to all weights cancels in the output (o with a divisor, lse). */
void bound_weights_set(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at,
                       int common);

/* R-SCORE: what q and k lose by underflow where they are rounded to a type once they are scaled; decays that are in the
 * product meet what is left.  And what they lose where they are stored times decays that multiply the product
 * (R-DECAY): beside D times the errors of W. */
void bound_decayed_error(mag_t y, const bound_weights *w, const bound_model *m, const ref_row *row, int64_t j);
void bound_scaled_error(mag_t y, const bound_weights *w, const bound_model *m, const ref_row *row, int64_t j);

/* bound_run.c: takes delta of the scaled products down where their sums are declared to be serial (R-RUN). */
void bound_run_scores(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at);

/* bound_steps.c: cap, alibi, bias and clamp on delta; the filter on sizes, then on the sets; decay; gates. */
void bound_score_steps(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, attest_row at);
void bound_filter_sizes(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in,
                        attest_row at);
void bound_filter_weights(bound_weights *w, const bound_model *m, const ref_row *row);
/* Roundings of one update that the state before and the terms that join it meet (R-UPDATE). */
int64_t bound_update_roundings(const bound_model *m);
/* Factors of stored logarithms that one update meets, where they are multiplied. */
int64_t bound_update_exponentials(const bound_model *m);
/* Roundings to numerics.state_dtype that a term of a state meets in so many tokens: at most one a token; of schedule
 * chunk at most one each for the chunk's own sum, its end, a given state and the last token, and one a chunk; with
 * decays two more a chunk: of the decayed state, where it is stored before the chunk is added, and of the decays'
 * product, where pairs (product, sum) are what a scan carries. */
int64_t bound_state_stores(const bound_model *m, int64_t tokens);
/* Those inside one update (R-UPDATE). */
int64_t bound_update_stores(const bound_model *m);
/* Roundings that a decay over so many tokens may bring to a term; 0 without decay. */
int64_t bound_decay_steps(const bound_model *m, int64_t tokens);
/* Largest product of factors above 1, and the exponent error of factors made by way of logarithms (0: they cannot be),
 * for keys from `first` on seen from token i. */
void bound_decay_set(mag_t most, mag_t logs, const bound_model *m, const ref_inputs *in, int64_t first, int64_t b,
                     int64_t g, int64_t i);
/* Relative error of a factor of tokens first..last, the largest, where its logarithm is stored; else 0. */
void bound_decay_made(mag_t y, const bound_model *m, const ref_inputs *in, int64_t b, int64_t g, int64_t first,
                      int64_t last);
/* Exponentials that a term of a state may meet on its way to a query so many tokens behind, where decays are made of
 * logarithms; and that the factors between two tokens of one chunk are made of. */
int64_t bound_decay_exponentials(const bound_model *m, int64_t tokens);
int64_t bound_decay_pair_exponentials(const bound_model *m, int64_t tokens);
/* Are factors of stored logarithms declared to be multiplied, so that no sum of logarithms errs? */
int bound_decay_multiplied(const bound_model *m);
/* What a decay over so many tokens loses where an exponential that makes it is below 2^emin; 0 where `logs` is. */
void bound_decay_flush(mag_t y, const bound_model *m, const mag_t most, const mag_t logs, int64_t tokens);
/* Relative error of D over so many tokens, and what it may lose by underflow. */
void bound_decay_error(mag_t theta, mag_t lost, const bound_weights *w, const bound_model *m, int64_t tokens);
/* Adds theta and underflow to the errors of D W. */
void bound_decay_weights(bound_weights *w, const bound_model *m, const ref_row *row, int64_t i);
/* Relative error of a gated value of tokens [first,last); of a gated row, and the absolute error of a gate. */
void bound_value_gate(mag_t theta, const bound_model *m, const ref_inputs *in, int64_t b, int64_t first, int64_t last);
/* R-GATE: x, lost after a gate was multiplied in, as lost before it: times 1/|gate| where that is more than 1. */
void bound_ungated(mag_t x, const arb_t gate);
void bound_row_gate(mag_t theta, mag_t tiny, const bound_model *m, const ref_inputs *in, int64_t b, int64_t i);

/* bound_common.c: do the weights' common factor and the kernel's shift cancel in this output?  Exponentials of a
 * `direct` kernel are not shifted; those of another are where the norm is a quotient of sums, or declared so (R-ROOT).
 */
int bound_common_factor(const attest_problem *p, const attest_numerics *n, uint32_t output);

/* bound_rate.c: error of the rate of a token of update=efla, relative and absolute; 0 of delta.  size: |k|; key: of the
 * kernel's, upward; wrong: |k^ - k|. */
void bound_efla_rate(mag_t theta, mag_t shift, const bound_model *m, double rate, const mag_t size, const mag_t key,
                     const mag_t wrong);

/* bound_delta.c: error of an entry of the state of KV head (b,g) after the tokens of `row` (R-DELTA); 0: no bound. */
int bound_delta_state(mag_t error, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t b,
                      int64_t g);

/* bound_poly.c and bound_exp.c: fill set[BOUND_SCORE] and set[BOUND_EXP]. */
void bound_exp_weights(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t h,
                       int common);
void bound_poly_weights(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in);
/* Adds the state form's errors to set[BOUND_SUM]; sets gamma_state, lost_state. */
void bound_state_weights(bound_weights *w, const bound_model *m, const ref_row *row);

#endif

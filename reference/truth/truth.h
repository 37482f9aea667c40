/* truth.h - the truth of a case: which engine serves a row, how precise, and what leaves as text or rounded
 * numbers.
 *
 * Answers what is true of a case, and defines most functions of reference.h. Sees no kernel's output.
 */
#ifndef ATTEST_TRUTH_H
#define ATTEST_TRUTH_H

#include "reference/ball/ball.h"
#include "reference/dd/dd.h"
#include "reference/exact/exact.h"

struct attest_truth {
    const attest_problem *p;
    const attest_bundle *bundle;
    ref_inputs in;
    ref_ball_cache ball;
    ref_exact_cache exact;
    struct ref_update_cache *updates;
    uint32_t engine;        /* the engine asked for */
    struct ref_slot *slots; /* open addressing by row number and precision; size a power of two */
    int64_t slot_count, used;
    size_t bytes; /* estimated size of the cached rows */
    ref_state *states;
    size_t state_bytes, state_bytes_most; /* estimated size of the kept states; beyond, only the newest stays */
    ref_row spare;                        /* the row of the moment once the cache is full */
    int64_t spare_key;
    attest_enclosures fast_o, fast_lse; /* truth_dd.c */
    uint32_t fast_tiers;                /* attest_tiers they were made with */
    _Atomic int64_t rows;               /* attest_truth_rows() */
};

/* One (b,h,i) of o, u, z, lse, or one (b,g) of ht.n, zt.n, at one precision: what decimals.c and rounded.c
 * write down.  Filled by whichever engine the truth asks for. */
typedef struct ref_view {
    attest_tensor_id id;
    int64_t b, h, i; /* h: the KV head for states; i = 0 for states */
    int64_t count;
    slong prec;
    uint32_t engine;
    int open;           /* a higher precision may give values that this one does not */
    int missing;        /* no values: ill-posed, absent or no truth (as far as this precision tells) */
    int minus_infinity; /* the one value is -inf: lse of an empty row */
    arb_ptr ball;       /* [count]; an entry that is not finite is unknown, or without truth in a state */
    mag_ptr abs_scale;  /* [count], only with `want_abs_scale` */
    mpq_t *rational;    /* [count], owned, not always in lowest terms; NULL: not rational */
    int want_abs_scale;
} ref_view;

/* truth_state.c: lets go of the kept states. */
void ref_truth_states_free(attest_truth *truth);

/* Sizes the view for output `id`; number of views of the output: b * heads * rows. */
attest_status ref_view_init(ref_view *view, const attest_truth *truth, attest_tensor_id id, attest_error *err);
void ref_view_clear(ref_view *view);
int64_t ref_view_total(const attest_truth *truth, attest_tensor_id id);
/* Moves to the number-th view, in the order of the output's elements. */
void ref_view_seek(ref_view *view, const attest_truth *truth, int64_t number);
attest_status ref_view_fill(ref_view *view, attest_truth *truth, slong prec, attest_error *err);

#define REF_DD_BITS 106 /* of hi + lo */
/* The dd engine's elements of output `id`, made once for each `tiers`; NULL where it does not serve the variant or the
 * output. */
attest_status ref_truth_enclosed(const attest_enclosures **e, attest_truth *truth, attest_tensor_id id, uint32_t tiers,
                                 attest_error *err);
/* As ref_view_fill; *served = 0 and nothing filled where the dd engine does not know every element of the view. */
attest_status ref_view_fill_dd(ref_view *view, int *served, attest_truth *truth, attest_error *err);

/* ball = value +- error; not finite where the witness does not know the value. */
void ref_witness_ball(arb_t ball, const mpfr_t value, const mpfr_t error);

/* q = x exactly; 0 if x is not finite or its exponent is outside (-limit, limit). */
int ref_rational_of(mpq_t q, const arf_t x, slong limit);

#endif

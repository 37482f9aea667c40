/* dd_driver.h - inside reference/: the dd engine around its loops: packed inputs, rows, bounds.
 *
 * dd_pack.c reads tensors, dd_rows.c computes a block of rows, dd_bound.c turns sizes into bounds, dd_log.c is the
 * logarithm, enclose.c drives.  Numbers that bound something are doubles evaluated in round-to-nearest on non-negative
 * quantities and enlarged once at the end (R-DD-UPWARD).
 */
#ifndef ATTEST_DD_DRIVER_H
#define ATTEST_DD_DRIVER_H

#include "reference/dd/dd_real.h"
#include "reference/dd/dd.h"

/* What the variant asks for. */
typedef struct dd_formula {
    int exponential; /* else a polynomial: */
    int order;
    double lead[2]; /* dd_row_plan */
    const double (*coefficient)[2];
    uint32_t center, norm;
    double floor_at, eps, clamp; /* clamp: INFINITY if none */
    int relu;
    double fold, scale; /* the scale is fold * scale; fold is a power of two and is multiplied into q exactly */
} dd_formula;

/* One KV head, packed (dd.h), and what the scan found. */
typedef struct dd_head {
    int64_t b, g;
    int64_t *bad;          /* [m+1]: keys below j whose k or v is not finite; they are packed as zeros */
    double *key, *value;   /* in slices: the first ones, and */
    double *key2, *value2; /* the second ones; NULL without */
    double *value_big;     /* [columns*16] slices: 1.5 2^52 times the grid of the first */
    double *power;         /* [columns*16]: a power of two above max |v_c|; 0 for a column of zeros */
    double key_square;     /* >= max norm2(phi(k))^2 */
    double key_grid;       /* every entry of k is a multiple of it (a power of two; INFINITY if all are 0) */
    double value_grid;     /* of v */
    double value_power;    /* the largest of power[] */
    int64_t key_exponent;  /* slices: norm2(phi(k)) <= 2^key_exponent, k1 on the grid 2^(key_exponent-26) */
} dd_head;

typedef struct dd_job {
    const attest_problem *p;
    const attest_tensor *q, *k, *v;
    const attest_tensor *len, *len_q; /* NULL without lens, lens_q */
    const attest_bundle *in;
    const dd_path *path;
    uint32_t tiers;
    int sliced; /* keys and values are sliced (R-DD-SLICE) */
    int brief;  /* R-DD-EXP-SHORT will do: the sums that follow are known no better */
    dd_formula f;
    int64_t panels, columns; /* ceil(m/16), ceil(e/16) */
    dd_head head;
    attest_enclosures *o, *lse; /* lse may be NULL */
} dd_job;

/* A row of a block: what is known before and after each step. */
typedef struct dd_row {
    int64_t h, i;        /* query head and row; h < 0: padding */
    int64_t first, last; /* visible keys */
    int empty;           /* no visible key: o = 0, lse = -inf */
    int known;           /* 0: this engine has nothing to say (bound = INFINITY) */
    double square;       /* >= norm2(phi(q))^2, q with `fold` in it */
    double grid;         /* every entry of q is a multiple */
    int64_t exponent;    /* of `big` for the scores; DD_EXACT_SUM: sums are exact; sliced: |q| <= 2^exponent */
    double largest;      /* |x| of scores, upper, after clamp, before the shift */
    double score_error;  /* |x^ - x|, upper, with the shift */
    double weight_error; /* >= sum_j |w^_j - w_j|, in the scale of the weights */
    double top;          /* a power of two >= every |w^_j| */
    double sum_error;    /* of the sum of weights */
    dd_row_plan plan;
    dd_row_sum sum;
} dd_row;

/* ---- dd_pack.c --------------------------------------------------------------------------------------------------- */
attest_status dd_head_init(dd_head *head, const dd_job *job, attest_error *err);
void dd_head_clear(dd_head *head);
/* Packing KV head (b,g): start; then each thread packs panels with a dd_found of its own and merges it, one thread at a
 * time; then one finishes.  The order of threads and panels changes nothing. */
typedef struct dd_found {
    double key_square, key_least, value_least;
    double *x, *most; /* x: a vector; most[columns*16]: max |v_c| */
} dd_found;
void dd_pack_start(dd_job *job, int64_t b, int64_t g);
size_t dd_pack_scratch(const dd_job *job); /* doubles a thread needs */
void dd_pack_thread(dd_found *f, const dd_job *job, double *scratch);
void dd_pack_panel(const dd_job *job, int64_t panel, dd_found *f);
void dd_pack_merge(dd_job *job, const dd_found *f);
void dd_pack_finish(dd_job *job);
void dd_pack_slice(const dd_job *job, int64_t panel); /* after that: the panel's keys and values in slices */
/* Row `row` of q, mapped and folded, to q[d]; fills square, grid and known. */
void dd_query(double *q, dd_row *row, const dd_job *job);
/* The exponent range of dtype's least bit: every finite x of the dtype is a multiple of 2^(exponent of |x| - bits). */
int dd_mantissa_bits(uint32_t dtype);

/* ---- dd_rows.c --------------------------------------------------------------------------------------------------- */
/* doubles of scratch a thread needs */
size_t dd_scratch(const dd_job *job);
/* Rows block*DD_ROWS .. of the KV head at hand, query heads one after the other; writes o and lse. */
void dd_block(const dd_job *job, int64_t block, double *scratch);

/* ---- dd_bound.c: lemmas R-DD-* ----------------------------------------------------------------------------------- */
double dd_power_of_two(int64_t exponent); /* 0 below -1074, INFINITY above 1023 */
int64_t dd_exponent(double x);            /* least k with |x| <= 2^k; -1075 for 0 */
int64_t dd_norm_exponent(double square);  /* sqrt(square) <= 2^k; -450 below 2^-900 */
#define DD_EXACT_SUM (-9999)              /* as an exponent: no sum was rounded */
#define DD_EXP_ERROR 0x1.6p-87            /* R-DD-EXP, relative; searched by tests/reference/dd/test_dd_exp.c */
#define DD_EXP_SHORT_ERROR 0x1p-62        /* R-DD-EXP-SHORT, likewise */
int64_t dd_score_exponent(const dd_job *job, const dd_row *row); /* k of `big` for the scores */
double dd_score_error(const dd_job *job, const dd_row *row);
/* Before the weights: plan->big, exponent, cut, and row->top. */
void dd_plan_weights(dd_row *row, const dd_job *job, double lowest, double highest);
/* After the weights: weight_error and sum_error. */
void dd_weigh_errors(dd_row *row, const dd_job *job);
/* The same for values_sliced, the kept weights on the grid 2^-52 cut/1.5. */
double dd_sliced_value_error(const dd_row *row, const dd_job *job, double cut);
/* |error of u_c| <= result power[c]; `exact`: by values_exact on the grid 2^-52 cut/1.5 (exact or not: what the
 * weights were cut to; 0: not). */
double dd_value_error(const dd_row *row, const dd_job *job, int64_t exponent, int exact, double cut);

/* ---- dd_log.c ---------------------------------------------------------------------------------------------------- */
/* hi + *lo = ln(zh + zl) + exponent ln 2, z > 0 normal, |zl| <= ulp(zh); error at most 2^-94 + 2^-101 |result|. */
double dd_log(double *lo, double zh, double zl, int64_t exponent);

#endif

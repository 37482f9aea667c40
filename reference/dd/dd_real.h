/* dd.h - inside reference/: the dd engine's inner loops, one set a path (AVX-512, AVX2+FMA, portable C).
 *
 * A path is a table of functions, all compiled from dd_products.h and dd_weights.h over a small layer of vector
 * operations (dd_vector_*.h).  The driver (dd_driver.h) scans and packs inputs, chooses a tier for a block of rows,
 * calls the path, and turns exponents and sums into bounds (dd_bound.c).  What every function loses is stated here, as
 * bounds that the lemmas R-DD-* (derivations.md, section 8) prove; u = 2^-53.
 *
 * Layout.  A block is DD_ROWS query rows that share a KV head.  Keys come in panels of DD_PANEL: key[panel][d][lane],
 * value[e/DD_PANEL][key][lane], all doubles, padded with zeros.  A row's scores, later its weights, are two arrays
 * high[] and low[] over the keys; the rows of a block lie `stride` apart.
 *
 * Accumulation.  A sum of terms with partial sums below 2^(k-1) in size starts at 1.5 2^k (`big`): every partial sum is
 * then a multiple of 2^(k-52), what a step rounds off is a double, and a second accumulator sums that.
 */
#ifndef ATTEST_DD_H
#define ATTEST_DD_H

#include <stdint.h>

#if defined(__FAST_MATH__) || defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#error "the dd engine's proof needs IEEE arithmetic: compile without -ffast-math and -Ofast"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "the dd engine's proof needs double arithmetic without excess precision (on x86-32: -msse2 -mfpmath=sse)"
#endif

enum {
    DD_ROWS = 4,
    DD_PANEL = 16,
    DD_FOLD = 128 /* steps after which the second accumulator is folded into the first */
};

/* How the weights of one row are to be made. */
typedef struct dd_row_plan {
    int64_t from, to;    /* keys to fill, multiples of DD_PANEL; outside [first,last) the weight is 0 */
    int64_t first, last; /* visible keys */
    double shift[2];     /* taken from every score: hi, lo */
    double clamp;        /* min(score, clamp) before the shift; INFINITY: none */
    double big;          /* for sum W: 1.5 2^k, 2^k >= 2 sum |W| */
    int64_t exponent;    /* exp: weights are e^x 2^-exponent */
    double cut;          /* exp: weights of x below are 0 */
    int order;           /* series: highest power, and its coefficient (hi, lo) */
    double lead[2];
    const double (*coefficient)[2]; /* series: those of the powers below; NULL: all 0 */
} dd_row_plan;

/* sum of weights: |sum (high + low) - (hi + lo)| <= R-DD-SUM; absolute >= sum |high| */
typedef struct dd_row_sum {
    double hi, lo, absolute;
} dd_row_sum;

typedef struct dd_path {
    const char *name;
    int lanes;
    int fma;            /* products are formed by FMA; else p is cut to 29 bits before the value product */
    int slices;         /* slicing is the faster way for f32 (R-DD-SLICE) */
    int (*runs)(void);  /* can this machine run it? */
    int (*sound)(void); /* do the error-free transforms hold, as compiled? */

    /* One row of `count` numbers, exact floats: adds up the squares (relative error below 2^-20), raises *largest and
     * lowers *smallest to the extreme |x|, zeros not counted in the latter.  Returns 0 if one is not finite. */
    int (*scan)(double *squares, double *largest, double *smallest, const double *x, int64_t count);
    /* The same of 16 vectors at once, `count` groups of 16: squares[16] are set, largest[16] raised; after a 0 all
     * three may be anything. */
    int (*survey)(double *squares, double *largest, double *smallest, const double *x, int64_t count);

    /* x_ij = scale <q_i, k_j> for all keys of `panels`; scale 1, or any double (then one product more).
     * big[i] = 1.5 2^k, 2^k >= 2 sum |q k|.  R-DD-SCORE. */
    void (*scores)(double *high, double *low, int64_t stride, const double *q, const double *key, int64_t d,
                   int64_t panels, const double *big, double scale);
    /* The same where plain sums are exact (R-DD-GRID). */
    void (*scores_exact)(double *high, double *low, int64_t stride, const double *q, const double *key, int64_t d,
                         int64_t panels, double scale);
    /* first = x on the grid 2^-52 big[lane]/1.5, second = x - first, exactly; `count` groups of 16; first may be x. */
    void (*slice)(double *first, double *second, const double *x, int64_t count, const double *big);
    /* The same scores from slices: sum q1 k1, which is exact, and sum (q k2 + q2 k1) in plain double (R-DD-SLICE). */
    void (*scores_sliced)(double *high, double *low, int64_t stride, const double *const q[3], const double *key,
                          const double *key2, int64_t d, int64_t panels, double scale);
    /* extremes of high[first..last) */
    void (*range)(double *lowest, double *highest, const double *high, int64_t first, int64_t last);
    /* scores -> weights, in place.  R-DD-EXP, R-DD-EXP-SHORT, R-DD-SERIES. */
    void (*exponential)(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan);
    void (*exponential_short)(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan);
    void (*series)(dd_row_sum *sum, double *high, double *low, const dd_row_plan *plan);
    /* kept = high on the grid 2^-52 big/1.5, low takes the rest; kept may be high. */
    void (*cut)(double *kept, double *low, const double *high, int64_t from, int64_t to, double big);
    /* u_ic = sum_j p_ij v_jc for the 16 columns of one value panel; uh, ul [DD_ROWS][DD_PANEL].  start[i] power[c] is
     * the first accumulator's start.  R-DD-VALUE. */
    void (*values)(double *uh, double *ul, const double *high, const double *low, int64_t stride, const double *value,
                   int64_t from, int64_t to, const double *start, const double *power);
    /* The same with plain sums of (multiple of a grid) v, which are exact, and of low v.  R-DD-GRID. */
    void (*values_exact)(double *uh, double *ul, const double *high, const double *low, int64_t stride,
                         const double *value, int64_t from, int64_t to);
    /* The same with sums of kept v1, which are exact, and of high v2 + low v1 (R-DD-SLICE). */
    void (*values_sliced)(double *uh, double *ul, const double *kept, const double *high, const double *low,
                          int64_t stride, const double *value, const double *value2, int64_t from, int64_t to);
    /* o = u/(zh+zl) of one row and panel: hi, lo, and bound = alpha power[c] + gamma |o|.  R-DD-QUOTIENT. */
    void (*divide)(double *hi, double *lo, double *bound, const double *uh, const double *ul, double zh, double zl,
                   const double *power, double alpha, double gamma);
} dd_path;

extern const dd_path dd_path_avx512, dd_path_avx2, dd_path_portable;

#endif

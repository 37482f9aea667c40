/* reference.h - what is true, and how wrong a kernel may be: the public face of reference/.
 *
 * The truth of a case is the real-number result on the exact bits of its input tensors, kept per row
 * (b,h,i) as an enclosure and, where every step is rational and affordable, as an exact rational.  What
 * leaves this folder are decimal texts, correctly rounded tensors, and outward-rounded doubles: error
 * intervals, bounds, abs_scales.  No header of MPFR, GMP or FLINT is needed by a caller.  Nothing here calls
 * libm or sees a kernel's code.  Lemmas are numbered in reference/derivations.md.
 *
 * Threads: one attest_truth may be used by one thread at a time; different ones independently.
 */
#ifndef ATTEST_REFERENCE_H
#define ATTEST_REFERENCE_H

#include "kernels/tensor/tensor.h"

typedef enum attest_engine {
    ATTEST_ENGINE_AUTO = 0, /* per row: exact where it serves, else ball */
    ATTEST_ENGINE_BALL = 1,
    ATTEST_ENGINE_EXACT = 2,   /* ATTEST_BAD_INPUT where it does not serve */
    ATTEST_ENGINE_WITNESS = 3, /* plain MPFR with its own error bound; never judges a kernel */
    ATTEST_ENGINE_MIXED = 4,   /* as a result only: rows differ */
    ATTEST_ENGINE_DD = 5       /* double-double (dd/dd.h): o and lse; a row that it does not know, and any other
                                  output, comes from balls.  ATTEST_BAD_INPUT where it does not serve the variant */
} attest_engine;

const char *attest_engine_name(uint32_t engine); /* auto ball exact witness mixed dd */

#define ATTEST_PRECISION_START 128
#define ATTEST_PRECISION_CAP 8192

typedef struct attest_truth attest_truth;

/* Prepares the truth of `p` on the input tensors of `in` (both borrowed until attest_truth_free; `in` must
 * hold every tensor attest_problem_uses(), with the shapes of attest_tensor_describe(); states full).
 * ATTEST_BAD_INPUT if no engine of this version serves the variant (the message names the axis and value)
 * or the asked one does not. */
attest_status attest_truth_new(attest_truth **truth, const attest_problem *p, const attest_bundle *in, uint32_t engine,
                               attest_error *err);
void attest_truth_free(attest_truth *truth);

/* How many rows balls or rationals have been made of so far, each precision counted; any thread may ask. */
int64_t attest_truth_rows(const attest_truth *truth);

/* Keys and queries of batch entry b: rows from `queries` on are absent. */
attest_lengths attest_truth_lengths(const attest_truth *truth, int64_t b);

/* 1 if this version's ball engine serves the variant; else 0 and why. */
int attest_truth_serves(const attest_problem *p, char *why, size_t len);

/* ---- the `reference` command: all elements of one output tensor ----------------------------------------- */
typedef struct attest_decimals {
    int64_t count;
    int64_t shape[4];
    int rank;
    char **mid;   /* decimal, "inf", "-inf", or NULL (ill-posed, absent, no truth) */
    char **rad;   /* bound of |printed mid - truth|; "0" only if the decimal is exact; NULL as mid */
    char **exact; /* "p/q" or "p" in lowest terms; the whole array is NULL unless every element is rational */
    long bits;    /* largest precision used */
    uint32_t engine;
    int64_t undecided; /* elements whose radius stayed above the target at the cap */
} attest_decimals;

/* Fills *out for o, u, z, lse, ht.n or zt.n.  prec > 0 fixes the precision; prec = 0 raises it from
 * ATTEST_PRECISION_START, doubling, until rad <= max(10^-digits |mid|, 2^-100 abs_scale) or the cap. */
attest_status attest_truth_decimals(attest_decimals *out, attest_truth *truth, attest_tensor_id id, int digits,
                                    long prec, attest_error *err);
void attest_decimals_free(attest_decimals *d);

/* How the correct rounding of each element was found. */
typedef struct attest_rounding_counts {
    int64_t by_enclosure; /* one nearest value seen from the enclosure (or an exact rational) */
    int64_t by_tie;       /* left open by balls, decided by the tie lemma */
    int64_t open_at_ball; /* left open by balls: a boundary inside at the tie-test precision, or a point on one */
    int64_t at_cap;       /* not decided */
    int64_t no_truth;     /* ill-posed, absent: NaN is stored */
} attest_rounding_counts;

/* Correctly rounds every element of output `id` to `dtype` (one rounding from the truth, to nearest even,
 * with subnormals) into *out: data malloc'd, the caller's.  `counts` is added to, not reset. */
attest_status attest_truth_rounded(attest_tensor *out, attest_truth *truth, attest_tensor_id id, uint32_t dtype,
                                   attest_rounding_counts *counts, attest_error *err);

/* ---- judging ----------------------------------------------------------------------------------------------- */
typedef enum attest_class {
    ATTEST_CLASS_NORMAL = 0,
    ATTEST_CLASS_ILLPOSED = 1,           /* the divisor's enclosure contains 0 at the cap */
    ATTEST_CLASS_ABSENT = 2,             /* the row has no such value (lse where z <= 0) */
    ATTEST_CLASS_NO_TRUTH = 3,           /* the row reads a non-finite input: ratio is 0 where a NaN must stand and
                                            does, inf where it must and does not, NaN where nothing is known */
    ATTEST_CLASS_EMPTY = 4,              /* empty row: o=u=z=0, lse=-inf, compared exactly; ABSENT
                                            where the kernel declares that it holds something else */
    ATTEST_CLASS_PREMATURE_OVERFLOW = 5, /* got Inf where the truth rounds to a finite value */
    ATTEST_CLASS_UNBOUNDED = 6           /* the lemma's conditions fail: no finite bound is claimed */
} attest_class;

/* The bound's terms, each already in units of the output (their sum is at most `bound`). */
enum {
    ATTEST_TERM_SCORE = 0,
    ATTEST_TERM_EXP = 1, /* or the polynomial weight */
    ATTEST_TERM_CAST = 2,
    ATTEST_TERM_ACCUMULATION = 3,
    ATTEST_TERM_DIVISION = 4, /* and the rounding of the output */
    ATTEST_TERM_COUNT = 5
};

/* One element of one output.  All doubles are outward rounded: lo below, hi above the real value. */
typedef struct attest_element {
    uint32_t class;   /* attest_class */
    uint32_t decided; /* ratio interval excludes 1 and radius <= 2^-10 bound */
    uint64_t got;     /* stored bits */
    double truth_lo, truth_hi;
    double error_lo, error_hi;   /* |got - truth|; +inf for a NaN or a wrong infinity */
    double signed_lo, signed_hi; /* got - truth */
    double ulp_lo, ulp_hi;       /* in ulps of the output's dtype at the truth (derivations.md, section 0) */
    double bound;                /* upper bound of the error of any kernel with these numerics; evaluated upward */
    double probable; /* what the error probably is at most, <= bound (R-PROBABILISTIC, lambda = 4): for warnings,
                                    in no verdict; NAN where its conditions are not given, and of anything but o */
    double ratio_lo, ratio_hi; /* error / bound; 0/0 = 0 */
    double abs_scale;          /* upper; derivations.md, section 0 */
    double term[ATTEST_TERM_COUNT];
} attest_element;

/* A row of the outputs: batch entry, query head, query. */
typedef struct attest_row {
    int64_t b, h, i;
} attest_row;

typedef struct attest_row_facts {
    int64_t visible;           /* keys */
    double range_lo, range_hi; /* max - min of the row's scores s_ij; 0 if visible < 1; NaN under delta, efla */
    double abs_score;          /* upper bound of max |s_ij|; NaN as above */
    int negative_weight;       /* a weight w_ij is surely negative */
    int sum_sign;              /* of z: 1, -1, or 0 where its enclosure contains 0 (or the variant has no z) */
    uint32_t engine;
    long bits;
} attest_row_facts;

/* Judges one row of output `id` (o u z lse) held in `got` (any strides, the dtype it has) against the
 * bound for a kernel with these numerics and flags (ATTEST_FTZ, ATTEST_LSE_BASE2, ...).
 * Writes e elements (o, u) or one (z, lse).  Raises precision until decided, at most to the cap. */
attest_status attest_judge_row(attest_element *elements, attest_row_facts *facts, attest_truth *truth,
                               const attest_numerics *numerics, uint32_t flags, attest_tensor_id id,
                               const attest_tensor *got, attest_row at, attest_error *err);

/* Judges all elements of ht.n or zt.n of KV head (b,g): rows*e or rows elements, row-major; `packed` tells
 * the layout of `got`. */
attest_status attest_judge_state(attest_element *elements, attest_truth *truth, const attest_numerics *numerics,
                                 uint32_t flags, attest_tensor_id id, int packed, const attest_tensor *got, int64_t b,
                                 int64_t g, attest_error *err);

/* ---- the power of a case --------------------------------------------------------------------------------------- */
/* What simple wrong kernels answer in place of o.  The other head: the row's own weights with the v of the next KV head
 * (one KV head, delta, efla, norms that divide by a root: no such answer).  v is gated as the formula does. */
enum {
    ATTEST_WRONG_ZEROS = 0,
    ATTEST_WRONG_MEAN = 1, /* of the visible v; of two keys or more */
    ATTEST_WRONG_LAST = 2, /* the last visible v; likewise */
    ATTEST_WRONG_HEAD = 3,
    ATTEST_WRONG_COUNT = 4
};

enum { ATTEST_KEY_VISIBLE = 1, ATTEST_KEY_SEEN = 2 };

/* distance[k*e+c]: how far wrong answer k is from o_c of row (b,h,i), the answer 0 at half its distance: a bound below
 * it tells the two apart.  NAN where the answer is none or is the right one, and in a row without a truth of its own.
 * keys[j] (m entries) of a visible key whose weight is not 0 becomes ATTEST_KEY_SEEN if o without that key, all else as
 * before, is outside bound[c] in some channel, and else at least ATTEST_KEY_VISIBLE.  Norms none and length: their
 * divisor unchanged; delta, efla and norms that divide by a root: keys stay as they are.  These are plain doubles:
 * figures of a case, in no proof. */
attest_status attest_judge_wrong(double *distance, unsigned char *keys, attest_truth *truth, const double *bound,
                                 attest_row at, attest_error *err);

/* share[j] (m entries) of the visible keys of row (b,h,i): w_j over the sum of all |w|, in plain doubles; 0 of the
 * other keys, and of all where the row has no weights (delta, efla) or no truth. */
attest_status attest_truth_shares(double *share, attest_truth *truth, attest_row at, attest_error *err);

/* The steps of row (b,h,i), each an enclosure.  s_ij: before the center is subtracted; w_ij with its decay, 0 where the
 * filter drops the key.  NAN: a key that the row does not see, what the variant has not (delta and efla: s, w, z), a
 * row that is empty or without truth, o of one that is ill-posed. */
typedef struct attest_interval {
    double lo, hi;
} attest_interval;
typedef struct attest_steps {
    attest_interval *s, *w; /* [m], the caller's */
    attest_interval *u, *o; /* [e], the caller's */
    attest_interval z, lse, center;
} attest_steps;
attest_status attest_truth_steps(attest_steps *steps, attest_truth *truth, attest_row at, attest_error *err);

/* The smallest size that the element's truth may have; its bound, infinite where it has none. */
double attest_element_size(const attest_element *element);
double attest_element_bound(const attest_element *element);

/* ---- pure reference studies ------------------------------------------------------------------------------- */
/* Enclosure of |o_a - o_b| per element of row (b,h,i) of two truths on the same inputs (Taylor P and exp);
 * lo[e], hi[e]; NaN where either has none. */
attest_status attest_truth_distance(double *lo, double *hi, attest_truth *a, attest_truth *b_truth, attest_row at,
                                    attest_error *err);

/* Enclosure of max over visible keys of |w_a/w_b - 1|, weights normalised to sum 1. */
attest_status attest_truth_weight_error(double *lo, double *hi, attest_truth *a, attest_truth *b_truth, attest_row at,
                                        attest_error *err);

/* Score range and size of a row. */
attest_status attest_truth_facts(attest_row_facts *facts, attest_truth *truth, attest_row at, attest_error *err);

/* Recomputes row (b,h,i) with the witness at 512 bits and checks that it overlaps the engine's u, z, o, lse.
 * *overlap = 0 is our own error (exit 70), `err` then says which element. */
attest_status attest_truth_cross_examine(int *overlap, attest_truth *truth, attest_row at, attest_error *err);

/* GMP, MPFR and FLINT cannot tell their caller that there is no memory.  After this, to be called before anything else
 * of reference/, that is one line on stderr with the case at hand, and the process ends with exit code 3; what was
 * written before is kept.  Without it they abort.  `before_end`, or NULL: called before that end, by any thread; it may
 * allocate nothing and wait for nobody. */
void attest_reference_begin(void (*before_end)(void));
/* The case at hand of the calling thread, copied; NULL: none. */
void attest_reference_case(const char *line);

/* Gives back what FLINT and MPFR keep for the calling thread; the last call of a thread that used a truth. */
void attest_reference_thread_end(void);

/* Versions of FLINT, MPFR, GMP as one line. */
void attest_reference_versions(char *text, size_t len);

/* ---- what the reference rests on: lemmas, compiler, libraries ------------------------------------------------------
 * The table of lemmas is made from derivations.md by tables/lemmas.awk at build time: it says what the document
 * says. */
typedef struct attest_lemma {
    const char *name;      /* R-...: proved there; C-...: cited, not proved again */
    const char *section;   /* its heading, without the marks */
    const char *statement; /* as written there, up to its proof */
    const char *source;    /* of C-..., else "" */
} attest_lemma;

extern const attest_lemma attest_lemmas[];
extern const size_t attest_lemma_count;

/* `loaded`: the version that the library itself states, at run time; `compiled`: that of its header. */
typedef struct attest_library_version {
    const char *name;
    char loaded[64], compiled[64];
} attest_library_version;

/* Fills list[0..len-1] with FLINT, Arb where it is a library of its own, MPFR and GMP; returns how many there are. */
#define ATTEST_LIBRARIES_MAX 4
size_t attest_reference_libraries(attest_library_version *list, size_t len);

/* Name and version of the compiler of reference/, with the options that decide what its arithmetic means. */
const char *attest_reference_compiler(void);

#endif

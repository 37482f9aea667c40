/* certify.h - the certificate harness: enclosures of the dd engine (reference/dd/dd.h) against a truth of its own.
 *
 * A case is a problem line and values, both fixed by (family, seed, number).  The truth is written here from the
 * formula alone, in Arb at 192 bits and more, and shares nothing with the engines of reference/.  Every case runs on
 * all paths, with the cheap tiers and without, on one thread and two.
 */
#ifndef ATTEST_CERTIFY_H
#define ATTEST_CERTIFY_H

#include "kernels/tensor/tensor.h"
#include "reference/dd/dd.h"

/* ---- random numbers (values.c) ----------------------------------------------------------------------------------- */
typedef struct certify_random {
    uint64_t state;
} certify_random;

uint64_t certify_word(certify_random *r);
int certify_below(certify_random *r, int n);          /* 0..n-1 */
int certify_between(certify_random *r, int a, int b); /* a..b */
double certify_unit(certify_random *r);               /* [0,1) */
double certify_normal(certify_random *r);             /* about N(0,1) */
double certify_wide(certify_random *r, int a, int b); /* +-1.f 2^e, e in a..b */

/* ---- families (draw.c, values.c) --------------------------------------------------------------------------------- */

/* Problems of a law: any; taylor of odd order, norm=sum; 16384 keys and few rows. */
enum { CERTIFY_ANY = 0, CERTIFY_ODD_TAYLOR = 1, CERTIFY_LONG = 2 };

/* A law of values: q, k, v of one case, each drawn for all its elements. */
typedef struct certify_law {
    const char *name;
    void (*fill)(const attest_problem *p, attest_bundle *in, certify_random *r); /* NULL: props' family of this name */
    int kind;                                                                    /* of its problems */
    const char *why;                                                             /* NULL: the family's own */
} certify_law;

extern const certify_law certify_laws[];
extern const int certify_law_count;

typedef struct certify_case {
    char line[ATTEST_LINE];
    attest_case about;
    attest_bundle *in;
} certify_case;

/* Case `number` of a law; `in` is new. */
attest_status certify_draw(certify_case *c, const certify_law *law, uint64_t seed, int number, attest_error *err);
/* The case of this line, with values of a law (NULL: of the line's own family). */
attest_status certify_draw_line(certify_case *c, const char *line, const certify_law *law, attest_error *err);
const certify_law *certify_law_of(const char *name); /* NULL if there is none */
void certify_clear(certify_case *c);

/* Element (b,h,row,c) = the number of the tensor's format nearest to x, the largest finite one beyond. */
void certify_put(attest_tensor *t, int64_t b, int64_t h, int64_t row, int64_t c, double x);

/* ---- the truth (truth.c) ----------------------------------------------------------------------------------------- */

/* One real: |value - (a[0] + a[1] + a[2])| <= error.  kind: */
enum { CERTIFY_NUMBER = 0, CERTIFY_NONE = 1, CERTIFY_MINUS_INFINITY = 2, CERTIFY_WIDE = 3 };
typedef struct certify_real {
    double a[3], error;
    int kind; /* NONE: no truth (not finite inputs, lse of z <= 0); WIDE: not enclosed below the highest precision */
    uint64_t bits[3]; /* rounded once to f32, f16, bf16 */
} certify_real;

enum { CERTIFY_FORMATS = 3 };
extern const uint32_t certify_formats[CERTIFY_FORMATS];

/* Truth of rows from..to-1 of query head h of batch entry b: o[(row-from) e + c] and lse[row-from].  Precision is
 * raised until each is known to 2^-120 of its size or to `need[...]` (absolute; o first, then lse; may be 0). */
typedef struct certify_rows {
    int64_t b, h, from, to;
    certify_real *o, *lse;
    const double *need_o, *need_lse;
} certify_rows;
void certify_truth(const certify_rows *rows, const certify_case *c);
/* Does row i see key j?  By the words of the mask, key by key. */
int certify_sees(const attest_problem *p, int64_t len, int64_t i, int64_t j);
int64_t certify_length(const certify_case *c, int64_t b);

/* ---- checks (check.c) -------------------------------------------------------------------------------------------- */
enum { CERTIFY_LOG_LOW = -1200, CERTIFY_LOGS = 1600 };

typedef struct certify_totals {
    int64_t cases, outputs, none, unknown; /* unknown: a truth, and bound = INFINITY on the first path */
    int64_t violations, undecided;         /* undecided: o in f32, bound finite, first path */
    int64_t loose;                         /* o: errors in ulps of its format not known to 2^-20 without cheap tiers */
    int64_t differ;                        /* decided roundings that differ, and bits that depend on threads */
    double ratio;                          /* largest error/bound */
    const char *worst;                     /* its path */
    int64_t logs[CERTIFY_LOGS];            /* of log2(bound/|o|), from CERTIFY_LOG_LOW */
} certify_totals;

/* Runs the case on all paths; `forced`: with ATTEST_TIERS_FORCED alone.  Adds to *totals; *shown counts violations
 * printed so far ("reproduce" is the text of the command).  0: internal error, printed. */
int certify_check(certify_totals *totals, const certify_case *c, int forced, const char *reproduce, int *shown);

#endif

/* result.h - the one type of a result: one judged case of one kernel (or one point of a study).
 *
 * attest_result_fields lists every field once; JSON lines, CSV and their readers are driven by it.  Numbers are
 * doubles; files carry them as hex float and decimal.  NAN = not known (JSON null, empty CSV cell).  Timings come last
 * and are excluded from comparisons.  What a problem line says stands beside it in fields of their own: who makes the
 * result fills them, and nobody reads a line again.
 *
 * This is a result in the open: texts are fixed arrays, so that it is plain data and can be copied.  Many of them are
 * kept packed, or in their file (results.h).
 */
#ifndef ATTEST_RESULT_H
#define ATTEST_RESULT_H

#include "kernels/status.h"

#define ATTEST_RESULT_SCHEMA 2 /* 1: rows.jsonl */
#define ATTEST_VERSION "0.1.0"

typedef enum attest_verdict {
    ATTEST_PASS = 0,
    ATTEST_FAIL = 1,
    ATTEST_UNDECIDED = 2, /* the precision cap was reached; or the run did not finish: attest_result_unfinished() */
    ATTEST_SKIP = 3,
    ATTEST_CRASH = 4,
    ATTEST_TIMEOUT = 5,
    ATTEST_ILLPOSED = 6, /* the suite allows that some o are ill-posed; all that was judged passed */
    ATTEST_NO_EVIDENCE =
        7,               /* passed, but no element tells a wrong kernel from a right one, or no case of its kernel and
                               variant has a truth that depends on its inputs */
    ATTEST_MEASURED = 8, /* a study's point: nothing judged */
    ATTEST_PARTIAL = 9,  /* what was judged passed; some wanted element was not judged, without the suite's leave */
    ATTEST_VERDICT_COUNT = 10
} attest_verdict;

/* Reasons are a set; names in attest_reason_names[]. */
enum {
    ATTEST_REASON_BOUND = 1u << 0,
    ATTEST_REASON_CLAIM = 1u << 1,
    ATTEST_REASON_BASELINE = 1u << 2,
    ATTEST_REASON_BIAS = 1u << 3,
    ATTEST_REASON_LSE = 1u << 4,
    ATTEST_REASON_STATE = 1u << 5,
    ATTEST_REASON_NAN_PATTERN = 1u << 6,
    ATTEST_REASON_NONDETERMINISTIC = 1u << 7,
    ATTEST_REASON_WROTE_OUTSIDE = 1u << 8,
    ATTEST_REASON_READ_OUTSIDE = 1u << 9,
    ATTEST_REASON_WROTE_INPUT = 1u << 10,
    ATTEST_REASON_UNWRITTEN_OUTPUT = 1u << 11,
    ATTEST_REASON_IGNORED_ARGUMENT = 1u << 12,
    ATTEST_REASON_KERNEL_ERROR = 1u << 13,
    ATTEST_REASON_FP_STATE = 1u << 14,
    ATTEST_REASON_EXIT = 1u << 15,
    ATTEST_REASON_PROPERTY = 1u << 16,
    ATTEST_REASON_POISON = 1u << 17, /* `property NAME` */
    ATTEST_REASON_BATCH = 1u << 18,
    ATTEST_REASON_ALONE = 1u << 19,
    ATTEST_REASON_LAYOUT = 1u << 20,
    ATTEST_REASON_TYPICAL = 1u << 21, /* worse-than-plain, under --strict=typical */
    ATTEST_REASON_COUNT = 22
};

extern const char *const attest_verdict_names[ATTEST_VERDICT_COUNT];
extern const char *const attest_reason_names[ATTEST_REASON_COUNT];

typedef struct attest_result {
    int64_t schema;
    char tool[32];       /* attest's version */
    char suite[64];      /* suite name, or study name */
    char suite_hash[20]; /* 16 hex digits */
    char run[32];        /* one id a run: UTC start time (SOURCE_DATE_EPOCH honoured) */
    char kernel[512];    /* name, or lib.so:name */
    char kernel_version[32];
    char file[96];      /* source file the kernel states */
    char file_hash[20]; /* of the library file, of the files of a program, or of attest-worker (built-in) */
    char flags[160];    /* build flags */
    char device[96];
    char class[96];     /* `WEIGHT SCHEDULE DTYPES`: cases whose bounds have the same terms */
    char problem[1024]; /* the problem line; "": no case */
    char hash[20];      /* 16 hex digits */
    /* what the line says, resolved; empty, 0 or NAN where there is no case */
    char variant[64]; /* the preset: `taylor:3` */
    char weight[32], mask[16], norm[32], update[16];
    char family[32], family_argument[256]; /* `range` and `8` */
    int64_t family_constant;               /* 1: the truth does not depend on every input */
    int64_t family_repeats;                /* 1: repeats scores, weights or values by construction */
    int64_t seed;
    int64_t b, hq, hkv, n, m, d, e;
    char in[8], acc[8], p[8], out[8]; /* dtypes */
    double scale;
    int64_t rows_judged, rows_total;
    int64_t rows_negative_weight; /* judged rows with a surely negative weight (odd Taylor orders, linear attention) */
    int64_t rows_negative_sum;    /* judged rows whose z is surely negative */
    int64_t rows_vanishing;       /* judged rows whose o is ill-posed: the divisor vanishes beside its terms */
    int64_t elements_judged;      /* of all wanted outputs; the next four were left out: */
    int64_t elements_unbounded, elements_illposed, elements_absent, elements_without_truth;
    int64_t rows_blind;             /* judged rows of o whose bounds let zeros pass: each at least half its element */
    double telling;                 /* share of the judged elements of o that tell zeros, the mean of v, the last v and
                                       another head's v from the truth */
    double keys_seen;               /* share of the visible keys whose loss some judged row would show, of these inputs
                                       or (many keys) of those with one value a key, the larger; NAN: no weights */
    double noticed, noticed_median; /* bound/abs(o): smallest, median; a smaller relative error passes */
    int64_t verdict;                /* attest_verdict */
    int64_t reasons;                /* set of ATTEST_REASON_* */
    char why[256];                  /* one line: skip reason, signal, first finding */
    char worst[64];                 /* `o[b,h,i,c]`; it and its figures to `bound` are those of the run that fails */
    char got[40];                   /* hex float */
    char truth[80];                 /* hex float of the nearest double, then decimal */
    double abs_lo, abs_hi;          /* worst element: |got-truth| */
    double ulp_lo, ulp_hi;          /* largest over elements, in ulps of out */
    double ratio_lo, ratio_hi;      /* largest error/bound */
    double bound;                   /* at the worst element */
    double ratio_median;            /* of the elements of o with a bound above 0 */
    double probabilistic_ratio;     /* largest error/(probabilistic bound) of o: warns, in no verdict */
    double abs_scale_ratio; /* largest error/(u abs_scale); abs_scale: the natural scale of an element's error */
    double norm_error;      /* sqrt(sum err^2)/sqrt(sum truth^2), upper */
    double bias;            /* mean of (got-truth)/(u abs_scale) */
    double outward_bias; /* bias in magnitude: mean of (got-truth) sign(truth)/(u abs_scale); positive is too large */
    double u_ratio, z_ratio, lse_ratio, state_ratio; /* largest ratio_hi of each */
    double truncation; /* Taylor P against exp: largest |o_P - o_exp| (upper); NAN otherwise */
    double rounding;   /* largest |got - o| of the kernel's own variant (upper) */
    double term_score, term_exp, term_cast, term_accumulation, term_division; /* at the worst element */
    double range;      /* largest realised score range of the judged rows */
    double abs_score;  /* largest |s| */
    char typical[160]; /* `as-plain`, `worse-than-plain`, `better-than-plain`, `not modelled: ...`; "": not asked */
    double typical_rms, typical_quantile; /* verify/typical/typical.h, in units of abs_scale; NAN: not modelled */
    double typical_factor;                /* rms/quantile; where worse, the least over the seeds tried */
    char predicted[208]; /* `equal`, the first element with other bits than predicted, or `not predicted: ...`; "": not
                            asked (--predict) */
    double abscissa, ordinate;            /* study points: x and y of the chart; NAN otherwise */
    char series[128];                     /* study points: which line; its first word is the panel of the chart */
    int64_t point, seeds;                 /* study points: number in the grid; of how many seeds this is the median */
    double ordinate_least, ordinate_most; /* over the seeds (of times: over the rounds) */
    double rounding_least, rounding_most; /* over the seeds */
    double total_lo, total_hi;            /* largest |got - o of softmax|: truncation and rounding together */
    char engine[16];
    int64_t bits;
    char outputs[20];        /* 16 hex digits of the outputs' bytes: equal exactly if the bits are */
    char fp_state[64];       /* `ok`, or what a kernel changed */
    char reproduction[6144]; /* one shell command */
    double seconds_kernel, seconds_truth;
    int others; /* in no file; 1: what else runs may have ended this one (attest_run_result.others) */
} attest_result;

typedef enum attest_field_type {
    ATTEST_FIELD_TEXT,
    ATTEST_FIELD_INT,
    ATTEST_FIELD_REAL,
    ATTEST_FIELD_VERDICT,
    ATTEST_FIELD_REASONS
} attest_field_type;

typedef struct attest_field {
    const char *name;
    attest_field_type type;
    size_t offset, size;
    int timing;          /* 1: excluded from comparisons */
    const char *meaning; /* units, for README and the page's legend */
} attest_field;

extern const attest_field attest_result_fields[];
extern const size_t attest_result_field_count;

/* All NAN / empty / zero, schema and tool set. */
void attest_result_init(attest_result *result);

/* All fields, texts by their length, into to[sizeof *result]; returns the bytes.  For this process alone.  Unpacking
 * `length` bytes: 0 if that is not what they hold. */
size_t attest_result_pack(char *to, const attest_result *result);
int attest_result_unpack(attest_result *result, const char *from, size_t length);

double attest_field_real(const attest_result *result, const attest_field *field);
int64_t attest_field_int(const attest_result *result, const attest_field *field);
/* 1: a size or a count of a file is within 2^40, so that sums over eight million results do not run over; any seed. */
int attest_field_holds(const attest_field *field, int64_t n);
/* Any field as text: reals %.17g, verdict and reasons by name. */
void attest_field_text(char *text, size_t len, const attest_result *result, const attest_field *field);

/* `bound,lse` into text. */
void attest_reasons_text(char *text, size_t len, int64_t reasons);

/* Exit code of one result: pass 0; fail 1; crash, timeout, fp-state 3; undecided, no-evidence 4; partial 4 if `strict`,
 * else 0; skip 77; illposed and measured 0. */
int attest_result_exit(const attest_result *result, int strict);

/* Nothing that was judged is wrong: pass, partial, illposed, or no-evidence. */
int attest_result_judged_good(const attest_result *result);

/* The bounds are too wide for the case to tell much.  Rows that let zeros pass by chance, because o is near 0 there,
 * are few: more than this part of the judged ones is a matter of the bound.  So is a median bound above half its
 * element: an error of half their size would pass in half of the elements. */
#define ATTEST_BLIND_PART 8
#define ATTEST_BLIND_MEDIAN 0.5
int attest_result_is_blind(const attest_result *result);

/* Which classes of elements were left out, or tell nothing. */
enum {
    ATTEST_LEFT_UNBOUNDED = 1u << 0,
    ATTEST_LEFT_ILLPOSED = 1u << 1,
    ATTEST_LEFT_ABSENT = 1u << 2,
    ATTEST_LEFT_WITHOUT_TRUTH = 1u << 3,
    ATTEST_LEFT_BLIND = 1u << 4, /* rows whose bounds let zeros pass, or no element of o that tells */
    ATTEST_LEFT_CLASSES = 5
};
extern const char *const attest_left_names[ATTEST_LEFT_CLASSES];
unsigned attest_result_left(const attest_result *result);

/* The suite allows that elements are left out or tell nothing, for this reason: a partial result passes, or is
 * illposed; one without evidence is a skip: it never passes. */
void attest_result_allow(attest_result *result, const char *reason);

/* 0 crash and timeout, 1 fail, 2 undecided, no-evidence and partial, 3 illposed and skip, 4 the rest: the order to tell
 * in. */
int attest_result_rank(const attest_result *result);
#define ATTEST_RANKS 5
#define ATTEST_RANKS_BAD 3 /* ranks below it are attest_result_bad() */

/* 1 if it failed, crashed or was late. */
int attest_result_failed(const attest_result *result);

/* The result of a run that did not finish: it stands for the cases that were not judged, of no kernel and no problem,
 * and is undecided. */
#define ATTEST_RESULT_RUN "*"
int attest_result_unfinished(const attest_result *result);

/* 1 if the result deserves attention: not pass, skip, illposed or measured. */
int attest_result_bad(const attest_result *result);

/* Combined exit code: the first of 70, 2, 3, 1, 4, 0 that occurs; 77 if nothing was judged.  Accumulate with
 * attest_exit_add(), starting from attest_exit_start. */
typedef struct attest_exit {
    int judged, seen[6];
} attest_exit;
void attest_exit_add(attest_exit *x, int code);
int attest_exit_code(const attest_exit *x);

#endif

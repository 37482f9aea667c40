/* row.h - the one row type: one judged case of one kernel (or one point of a study).
 *
 * attest_row_fields lists every field once; console table, JSON lines, CSV, JUnit and HTML are driven by it,
 * writing and reading.  Numbers are doubles; files carry them as hex float and decimal.  NAN = not known
 * (JSON null, empty CSV cell).  Timings come last and are excluded from comparisons.  Strings are owned by
 * the row (fixed arrays): a row is plain data and can be copied.
 */
#ifndef ATTEST_ROW_H
#define ATTEST_ROW_H

#include "kernels/status.h"

#define ATTEST_ROW_SCHEMA 1
#define ATTEST_VERSION    "0.1.0"

typedef enum attest_verdict {
    ATTEST_PASS = 0,
    ATTEST_FAIL = 1,
    ATTEST_UNDECIDED = 2,
    ATTEST_SKIP = 3,
    ATTEST_CRASH = 4,
    ATTEST_TIMEOUT = 5,
    ATTEST_ILLPOSED = 6, /* divisor contains 0; u and z pass */
    ATTEST_MISTRUSTED = 7,
    ATTEST_MEASURED = 8, /* a study's point: nothing judged */
    ATTEST_VERDICT_COUNT = 9
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
    ATTEST_REASON_COUNT = 21
};

extern const char *const attest_verdict_names[ATTEST_VERDICT_COUNT];
extern const char *const attest_reason_names[ATTEST_REASON_COUNT];

typedef struct attest_row {
    int64_t schema;
    char tool[32];       /* attest's version */
    char suite[64];      /* suite name, or study name */
    char suite_hash[20]; /* 16 hex digits */
    char run[32];        /* one id a run: UTC start time (SOURCE_DATE_EPOCH honoured) */
    char kernel[512];    /* name, or lib.so:name */
    char kernel_version[32];
    char file[96];      /* source file the kernel states */
    char file_hash[20]; /* of the library file (plugins) or of attest-worker (built-in) */
    char flags[160];    /* build flags */
    char device[96];
    char class[96];  /* `WEIGHT SCHEDULE DTYPES`: cases whose bounds have the same terms */
    char line[1024]; /* canonical problem line */
    char hash[20];   /* 16 hex digits */
    int64_t rows_judged, rows_total;
    int64_t rows_negative_weight; /* judged rows with a surely negative weight (odd Taylor orders, linear attention) */
    int64_t rows_negative_sum;    /* judged rows whose z is surely negative */
    int64_t rows_vanishing;       /* judged rows whose o has no truth because the divisor may be 0 */
    int64_t verdict;                                 /* attest_verdict */
    int64_t reasons;                                 /* set of ATTEST_REASON_* */
    char why[256];                                   /* one line: skip reason, signal, first finding */
    char worst[64];                                  /* `o[b,h,i,c]` */
    char got[40];                                    /* hex float */
    char truth[80];                                  /* hex float of the nearest double, then decimal */
    double abs_lo, abs_hi;                           /* worst element: |got-truth| */
    double ulp_lo, ulp_hi;                           /* largest over elements, in ulps of out */
    double ratio_lo, ratio_hi;                       /* largest error/bound */
    double bound;                                    /* at the worst element */
    double ratio_median;                             /* of the elements of o with a bound above 0 */
    double probable_ratio;                           /* largest error/(probable error) of o: warns, in no verdict */
    double gauge_ratio;                              /* largest error / (u*gauge) */
    double norm_error;                               /* sqrt(sum err^2)/sqrt(sum truth^2), upper */
    double bias;                                     /* mean of (got-truth)/(u*gauge) */
    double drift;                                    /* the same, its sign turned where truth < 0: away from 0 */
    double u_ratio, z_ratio, lse_ratio, state_ratio; /* largest ratio_hi of each */
    double truncation; /* Taylor P against exp: largest |o_P - o_exp| (upper); NAN otherwise */
    double rounding;   /* largest |got - o| of the kernel's own variant (upper) */
    double term_score, term_exp, term_cast, term_accumulation, term_division; /* at the worst element */
    double range;              /* largest realised score range of the judged rows */
    double abs_score;          /* largest |s| */
    double abscissa, ordinate; /* study points: x and y of the chart; NAN otherwise */
    char series[64];           /* study points: which line */
    char engine[16];
    int64_t bits;
    char outputs[20];        /* 16 hex digits of the outputs' bytes: equal exactly if the bits are */
    char fp_state[64];       /* `ok`, or what a kernel changed */
    char reproduction[3072]; /* one shell command */
    double seconds_kernel, seconds_truth;
} attest_row;

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

extern const attest_field attest_row_fields[];
extern const size_t attest_row_field_count;

/* All NAN / empty / zero, schema and tool set. */
void attest_row_init(attest_row *row);

/* `bound,lse` into text. */
void attest_reasons_text(char *text, size_t len, int64_t reasons);

/* Exit code of one row: pass 0; fail 1; crash, timeout, fp-state 3; undecided,
 * mistrusted 4; skip 77; illposed and measured 0. */
int attest_row_exit(const attest_row *row);

/* Combined exit code: the first of 70, 2, 3, 1, 4, 0 that occurs; 77 if nothing was judged.  Accumulate with
 * attest_exit_add(), starting from attest_exit_start. */
typedef struct attest_exit {
    int judged, seen[6];
} attest_exit;
void attest_exit_add(attest_exit *x, int code);
int attest_exit_code(const attest_exit *x);

#endif

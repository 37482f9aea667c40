/* compact_private.h - inside reports/compact: what is counted, field by field. */
#ifndef ATTEST_COMPACT_PRIVATE_H
#define ATTEST_COMPACT_PRIVATE_H

#include "reports/compact/compact.h"

#define BINS_AN_OCTAVE 8
#define BINS_FIRST (-48) /* octaves */
#define BINS_LAST 16
#define BINS ((BINS_LAST - BINS_FIRST) * BINS_AN_OCTAVE + 2) /* the first: all below and 0; the last: all above */

typedef enum extreme { WORST_RATIO, WORST_ULP, LEAST_NOTICED, SMALLEST, LARGEST, EXTREMES } extreme;

/* All results of one kernel and variant, drawn ones apart. */
typedef struct compact_variant {
    char kernel[512], variant[64];
    int64_t drawn, evidence;
    int64_t verdict[ATTEST_VERDICT_COUNT];
    double worst_ratio, worst_ulp;
    char worst_problem[1024];
    int64_t notes;
    char note[256];
    int64_t judged, rows, negative_weight, negative_sum, vanishing; /* attest_sign's; judged: its cases */
    int64_t powered, keyed;                                         /* attest_power's */
    double telling, keys_seen;
} compact_variant;

typedef struct compact_kept {
    attest_result result;
    attest_compact_mark mark;
    double value;
    int listed;
} compact_kept;

/* Those of one kernel and class with an error/bound. */
typedef struct compact_class {
    char kernel[512], class[96];
    int64_t cases, middles, shared;
    double largest, share[ATTEST_BOUND_TERMS];
    int64_t ratio[BINS], middle[BINS], noticed[BINS];
    compact_kept *kept[EXTREMES]; /* in no file */
} compact_class;

/* How many of one kernel are kept already; in no file. */
typedef struct compact_kernel {
    char kernel[512];
    unsigned exits;
    size_t bad[ATTEST_VERDICT_COUNT];
} compact_kernel;

struct attest_compact {
    int64_t cases;
    compact_variant *variant;
    compact_class *class;
    compact_kernel *kernel;
    size_t variants, variant_capacity, classes, class_capacity, kernels, kernel_capacity;
};

/* Adds counts and shares; not what is kept. */
void compact_add_class(compact_class *to, const compact_class *from);

#endif

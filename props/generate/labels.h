/* labels.h - what the cases of a run looked like, counted; and the floors that a run must reach to be trusted.
 *
 * A label is a fact of a case: `ties` (two visible keys of a row have the same score because they are equal, or
 * q = 0), `denominator negative`, `order 3`, `range 10-100`, .. .  A floor is a label that must occur at least so
 * often among the cases asked of kernels that can meet it (a kernel without odd Taylor orders cannot meet a negative
 * denominator): a run that misses one is no evidence, not a pass.  What kernels can meet is asked of them: a missed
 * floor counts unless no kernel of the run serves any of many drawn lines on which the label may occur
 * (attest_label_possible()).
 */
#ifndef ATTEST_LABELS_H
#define ATTEST_LABELS_H

#include "props/property.h"

/* What the reference knows of a case (verify/ fills it from the truth's row facts). */
typedef struct attest_case_facts {
    int64_t rows;         /* b hq n */
    int64_t negative_sum; /* rows whose z is surely negative */
    int64_t vanishing;    /* rows whose z may be 0, or is below 2^-10 of its absolute sum */
    int64_t negative_weight;
    int64_t empty;           /* rows without visible key */
    double range, abs_score; /* largest of the rows; NaN under delta, efla */
} attest_case_facts;

typedef struct attest_label {
    const char *name;
    const char *meaning;
    int floor; /* least count in a run of 2000 cases, in proportion for others, at least 1; 0: counted only */
    /* 1 if the case has it. */
    int (*has)(const attest_case *c, const attest_prop_kernel *kernel, const attest_bundle *inputs,
               const attest_case_facts *facts);
    /* 1 if a case of this line may have it; NULL: any may. */
    int (*can)(const attest_case *c, const attest_prop_kernel *kernel);
} attest_label;

extern const attest_label attest_labels[];
extern const size_t attest_label_count;

/* The floor of a label in a run of `cases`. */
int64_t attest_label_floor(const attest_label *label, int64_t cases);

/* 1 if the kernel serves one of the lines drawn for it on which the label may occur; at most ATTEST_GENERATE_TRIES are
 * asked about.  To be asked of the kernels of a run that misses the label's floor. */
int attest_label_possible(const attest_label *label, uint64_t seed, const attest_prop_kernel *kernel,
                          const attest_prop_host *host);

#endif

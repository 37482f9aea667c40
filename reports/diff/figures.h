/* figures.h - inside reports/diff: of each result what is compared, by class. */
#ifndef ATTEST_DIFF_FIGURES_H
#define ATTEST_DIFF_FIGURES_H

#include "reports/diff/diff.h"

/* attest_result_rank() of a pass. */
#define DIFF_GOOD 4

typedef struct diff_item {
    uint64_t key;          /* of kernel and problem line */
    uint64_t stem;         /* of the same without the seed */
    uint64_t bits;         /* of the outputs */
    double error, typical; /* log2; NAN: none */
    double seconds;        /* of the kernel; 0: not timed */
    size_t group, index;   /* its class; its number in the results */
    int64_t verdict;
    int rank, failed;
} diff_item;

typedef struct diff_group {
    char kernel[512], class[96];
} diff_group;

/* A kernel by the name that results have, and by that of comparisons. */
typedef struct diff_kernel {
    char typed[512], name[512];
} diff_kernel;

typedef struct diff_figures {
    diff_item *item; /* in the order of the results */
    diff_group *group;
    diff_kernel *kernel;
    size_t count, capacity, groups, group_capacity, kernels, kernel_capacity;
    size_t seen; /* results, those without a case too */
} diff_figures;

attest_status diff_collect(diff_figures *figures, const attest_results *results, attest_error *err);
void diff_figures_clear(diff_figures *figures);

/* The two hashes of a class again, as a baseline made them whose kernel goes by the path that was given, `typed`. */
attest_status diff_hash_typed(attest_baseline_line *line, const diff_figures *figures, size_t group, const char *typed,
                              const attest_results *results, attest_error *err);

/* diff.h's noise of one class. */
double diff_noise(const diff_figures *figures, size_t group);

/* Appends a change; returns it, or NULL without memory. */
attest_change *diff_add(attest_diff *diff, attest_change_kind kind, const diff_group *group, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Regressions first, each kind in the order in which it was found; counts them. */
attest_status diff_end(attest_diff *diff, attest_error *err);

/* What a class adds up to, without the cases that did not pass (known: NULL). */
attest_baseline_line diff_line_of(const diff_figures *figures, size_t group);
/* The order of a baseline's lines. */
int diff_by_name(const void *a, const void *b);

/* What is said of worse verdicts: how many of how many, two names. */
#define DIFF_WORSE "%zu of %zu cases have a worse verdict, the first was %s and is %s"
/* `7.9 times` of bits. */
#define DIFF_TIMES(bits) exp2(fabs(bits))

#endif

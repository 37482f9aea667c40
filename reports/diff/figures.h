/* figures.h - inside reports/diff: of each result what is compared, by class. */
#ifndef ATTEST_DIFF_FIGURES_H
#define ATTEST_DIFF_FIGURES_H

#include "reports/diff/diff.h"

/* attest_result_rank() of a pass. */
#define DIFF_GOOD 4

typedef struct diff_item {
    uint64_t key;          /* of kernel and problem line */
    uint64_t line;         /* of the problem line */
    uint64_t bits;         /* of the outputs */
    double error, typical; /* log2, to 2^-8; NAN: none */
    double seconds;        /* of the kernel; 0: not timed */
    size_t group, index;   /* its class; its number in the results */
    int64_t verdict;
    int digits, repeats; /* of the output's type; 1: numbers are repeated by construction */
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

/* The items of a class, in an order that any run of the same cases has, whatever the kernel is called; to be freed. */
attest_status diff_sorted(diff_item **item, size_t *count, const diff_figures *figures, size_t group,
                          attest_error *err);

/* ---- errors of a class, then and now (shift.c) ------------------------------------------------------------------- */
typedef struct diff_shift {
    size_t alone;   /* cases with an error on one side alone */
    size_t exact;   /* that were exact and are */
    size_t no_more; /* that were exact and are not */
    struct diff_moved {
        size_t n;            /* cases */
        double sum, squares; /* of their d_i */
        double most;         /* the largest, of the item with this number */
        size_t at;
    } plain, apart; /* apart: of families that repeat numbers */
} diff_shift;

/* One more case: what it was, and is. */
void diff_shift_add(diff_shift *shift, double error, double typical, const diff_item *now, size_t number);
/* 1: the class has errors, and no case has one on both sides. */
int diff_shift_none(const diff_shift *shift);
/* `; 10 were exact and are not`, or nothing. */
void diff_shift_exact(char text[64], const diff_shift *shift);
/* Adds what diff.h says of them. */
attest_status diff_shift_tell(attest_diff *diff, const diff_group *group, const diff_shift *shift,
                              const diff_item *items, const attest_results *now, attest_error *err);

/* Appends a change; returns it, or NULL without memory. */
attest_change *diff_add(attest_diff *diff, attest_change_kind kind, const diff_group *group, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Gives it its case, the result `index` (SIZE_MAX: none), and its shift.  ATTEST_NO_MEMORY: there is no change. */
attest_status diff_name_case(attest_change *change, const attest_results *now, size_t index, double shift,
                             attest_error *err);
/* Regressions first, each kind in the order in which it was found; counts them. */
attest_status diff_end(attest_diff *diff, attest_error *err);

/* What a class adds up to, without texts that say case by case (known, error_each, typical_each: NULL). */
attest_baseline_line diff_line_of(const diff_figures *figures, size_t group);
/* Errors in a baseline's line: a text of four hex digits a case.  all: 1 if `value` is one. */
#define DIFF_EACH_MOST 63.0
json_t *diff_each_of(const diff_item *item, size_t count, int typical);
double diff_each(const json_t *each, size_t number);
int diff_each_all(const json_t *value);
int64_t diff_each_count(const json_t *each);
/* The order of a baseline's lines. */
int diff_by_name(const void *a, const void *b);

/* What is said of worse verdicts: how many of how many, two names. */
#define DIFF_WORSE "%zu of %zu cases have a worse verdict, the first was %s and is %s"
/* `7.9 times` of bits. */
#define DIFF_TIMES(bits) exp2(fabs(bits))

#endif

/* figures.h - inside reports/diff: of each result what is compared, by class. */
#ifndef ATTEST_DIFF_FIGURES_H
#define ATTEST_DIFF_FIGURES_H

#include "reports/diff/diff.h"

/* attest_result_rank() of a pass. */
#define DIFF_GOOD 4

enum { DIFF_WAYS = 256 }; /* conditions of a run that are told apart (ways.c); more are none */

typedef struct diff_item {
    uint64_t key;                  /* of kernel and problem line */
    uint64_t line;                 /* of the problem line, 48 bits */
    uint64_t draw;                 /* of the inputs: cases of one draw have the same q and k, or share many of them */
    uint64_t ways[DIFF_WAYS / 64]; /* set of its conditions */
    double seconds;                /* of the kernel; 0: not timed */
    size_t group, index;           /* its class; its number in the results */
    uint32_t bits;                 /* hash of the outputs */
    float error, typical;          /* log2, to 2^-8; NAN: none */
    float moved, above; /* d_i, uncut; by how much the error is above the earlier one and 3 u; NAN: not known */
    int8_t verdict, rank, failed;
    int8_t digits;  /* of the output's type */
    int8_t repeats; /* 1: equal numbers in all seeds */
    int8_t ordered; /* 1: terms of a family whose order matters */
    int8_t told;    /* 1: in a group whose growth is told */
    uint8_t family; /* number of that condition */
} diff_item;

typedef struct diff_group {
    char kernel[512], class[96];
} diff_group;

/* A kernel by the name that results have, and by that of comparisons. */
typedef struct diff_kernel {
    char typed[512], name[512];
} diff_kernel;

/* A result without a case. */
typedef struct diff_whole {
    char kernel[512], text[200];
    uint64_t key; /* of kernel, verdict and what failed */
    size_t index;
    int failed;
} diff_whole;

typedef struct diff_figures {
    diff_item *item; /* in the order of the results */
    diff_group *group;
    diff_kernel *kernel;
    diff_whole *whole; /* results of whole kernels, but what an earlier comparison noted */
    size_t wholes, whole_capacity;
    char (*way)[48]; /* [DIFF_WAYS]: the conditions that there are, in words */
    uint64_t *way_hash;
    size_t ways;
    size_t count, capacity, groups, group_capacity, kernels, kernel_capacity;
    size_t seen; /* results, those without a case too */
} diff_figures;

attest_status diff_collect(diff_figures *figures, const attest_results *results, attest_error *err);
void diff_figures_clear(diff_figures *figures);

/* Sets `ways`, `family` and `ordered` of an item.  f->way is there. */
void diff_ways_of(diff_item *item, diff_figures *figures, const attest_result *result);

/* The items of a class, in an order that any run of the same cases has, whatever the kernel is called; to be freed. */
attest_status diff_sorted(diff_item ***item, size_t *count, const diff_figures *figures, size_t group,
                          attest_error *err);

/* ---- errors, then and now (moved.c, shift.c) */
/* Of a class. */
typedef struct diff_moved {
    size_t both;    /* cases with an error on both sides */
    size_t alone;   /* on one side alone */
    size_t no_more; /* that were exact and are not */
} diff_moved;

/* One more case, what it was and is: sets its `moved` and `above`. */
void diff_moved_add(diff_moved *moved, double error, double typical, diff_item *now);
/* 1: the class has errors, and no case has one on both sides. */
int diff_moved_none(const diff_moved *moved);
/* Adds that it is so. */
attest_status diff_moved_tell_none(attest_diff *diff, const diff_group *group, const diff_moved *moved,
                                   attest_error *err);
/* `; 10 were exact and are not`, or nothing. */
void diff_moved_exact(char text[64], const diff_moved *moved);
/* When all have been added: adds what diff.h says of classes, conditions, kernels, and single cases. */
attest_status diff_shift_tell(attest_diff *diff, diff_figures *figures, const attest_results *now, attest_error *err);

/* Appends a change; returns it, or NULL without memory. */
attest_change *diff_add(attest_diff *diff, attest_change_kind kind, const diff_group *group, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Gives it its case, the result `index` (SIZE_MAX: none), and its shift.  ATTEST_NO_MEMORY: there is no change. */
attest_status diff_name_case(attest_change *change, const attest_results *now, size_t index, double shift,
                             attest_error *err);
/* Regressions first, each kind in the order in which it was found; counts them. */
attest_status diff_end(attest_diff *diff, attest_error *err);

/* ---- a baseline -------------------------------------------------------------------------------------------------- */
/* A case in a baseline's line: 28 hex digits, of hashes and errors (each.c). */
json_t *diff_each_of(diff_item *const *item, size_t count);
int diff_each_all(const json_t *value);
int64_t diff_each_count(const json_t *each);
/* line, bits, error, typical of number `number`. */
void diff_each(diff_item *item, const json_t *each, size_t number);
#define DIFF_EACH_MOST 63.0 /* bits: an error is at most this */
/* As items have it. */
uint64_t diff_line_hash(const char *problem);
uint64_t diff_key(const char *kernel, uint64_t line);
attest_status diff_find_group(size_t *number, diff_figures *figures, const char *kernel, const char *class,
                              attest_error *err);
/* Room for one more item, at figures->item[figures->count]. */
attest_status diff_room(diff_figures *figures, attest_error *err);

/* Items of the earlier run, or of a baseline, beside those of the later one; see diff.h. */
attest_status diff_compare(attest_diff *diff, diff_figures *then, diff_figures *is, const attest_results *now,
                           int baseline, attest_error *err);

/* `7.9 times` of bits. */
#define DIFF_TIMES(bits) exp2(fabs(bits))

#endif

/* overview.h - for who tells results, here and in reports/ci: what the results of a run add up to, gathered one by one.
 *
 * Each kind of figure is an accumulator: starts from { 0 }, takes results one after another, is closed by its `end`
 * where it has one, and given back by `clear`.  attest_overview is all of them, filled by one pass.
 */
#ifndef ATTEST_OVERVIEW_H
#define ATTEST_OVERVIEW_H

#include "reports/report.h"

/* ---- kernels ----------------------------------------------------------------------------------------------------- */
typedef struct attest_tally {
    char kernel[512];
    size_t cases, by_verdict[ATTEST_VERDICT_COUNT];
    double worst_ratio, worst_ulp; /* NAN: none */
    char worst_problem[1024];      /* of worst_ratio */
    size_t notes;                  /* results that pass and say what was not tried */
    char note[256];                /* what the first of them says */
} attest_tally;

typedef struct attest_tallies {
    attest_tally *tally; /* in order of first appearance */
    size_t count, capacity;
} attest_tallies;

attest_status attest_tallies_take(attest_tallies *tallies, const attest_result *result, attest_error *err);

/* ---- signs ------------------------------------------------------------------------------------------------------- */
/* Cases of one variant together that have negative weights, a negative z or a divisor that may be 0: a class of their
 * own, for there o may be ill-posed while u and z are judged. */
typedef struct attest_sign {
    char variant[64];
    size_t cases, illposed;
    int64_t rows, negative_weight, negative_sum, vanishing;
} attest_sign;

typedef struct attest_signs {
    attest_sign *sign; /* in order of first appearance */
    size_t count, capacity;
} attest_signs;

attest_status attest_signs_take(attest_signs *signs, const attest_result *result, attest_error *err);
/* Leaves out the variants without any such row. */
void attest_signs_end(attest_signs *signs);
/* As a table, Markdown or HTML; nothing where there is none. */
attest_status attest_signs_print(FILE *out, const attest_signs *signs, int html, attest_error *err);

/* ---- power ------------------------------------------------------------------------------------------------------- */
/* The results of one kernel and variant that did not fail and judged elements of o: sums of their shares. */
typedef struct attest_power {
    char kernel[512], variant[64];
    size_t cases, keyed;       /* keyed: with keys_seen */
    double telling, keys_seen; /* sums of result.h's */
} attest_power;

typedef struct attest_powers {
    attest_power *power; /* in order of first appearance */
    size_t count, capacity;
} attest_powers;

attest_status attest_powers_take(attest_powers *powers, const attest_result *result, attest_error *err);
/* A row a kernel, and below it one for each variant whose share is below 90%; Markdown or HTML. */
attest_status attest_powers_print(FILE *out, const attest_powers *powers, int html, attest_error *err);

/* ---- classes ----------------------------------------------------------------------------------------------------- */
#define ATTEST_BOUND_TERMS 5 /* score, exp, cast, sums, division */

/* The judged cases of one class (result.h) together: how error/bound is distributed.  Quantiles are nearest ranks: the
 * ceil(q n)-th smallest of n. */
typedef struct attest_class_figures {
    char name[96];
    size_t cases;                     /* with an error/bound */
    double median, p99, largest;      /* of the cases' largest error/bound (ratio_hi) */
    double slack;                     /* 1/median: bound/error of the worst element of the case in the middle */
    double slack_element;             /* the same of the cases' medians over elements (ratio_median); NAN: none */
    double share[ATTEST_BOUND_TERMS]; /* mean shares of the bound at the worst elements */
    double *ratio, *middle;           /* until the end: of each case */
    size_t capacity, middles, shared;
} attest_class_figures;

typedef struct attest_classes {
    attest_class_figures *figures;
    size_t count, capacity;
} attest_classes;

attest_status attest_classes_take(attest_classes *classes, const attest_result *result, attest_error *err);
/* Fills the figures and sorts the classes by name. */
void attest_classes_end(attest_classes *classes);
void attest_classes_clear(attest_classes *classes);
/* As a table, Markdown or HTML; nothing where no result has an error/bound. */
attest_status attest_classes_print(FILE *out, const attest_classes *classes, int html, attest_error *err);

/* ---- warnings: no verdict and no exit code depends on them, but under --strict=typical ---- */
/* The results of one kernel that have a probabilistic_ratio; those of families that repeat scores, weights or values by
 * construction apart: equal numbers are rounded alike, so that R-PROBABILISTIC says nothing of them. */
typedef struct attest_probabilistic {
    char kernel[512];
    size_t cases, above; /* all but those families; with a ratio above 1 */
    double largest;
    char problem[1024];        /* of the largest */
    size_t apart, apart_above; /* of those families */
    double apart_largest;
} attest_probabilistic;

/* The outward bias over the cases of one kernel, class and family: `ones` (v = 1) or `repeat-max` (each channel of v
 * has one sign).  Errors of one case agree, so cases are what is counted; those of one seed share their draws, and
 * count as one, by their mean.  Left out: points of studies; cases where acc is f64 and in is not, or the reverse (out
 * may be finer than acc); scales that are no power of two, for the rounding of such a scale is the same in every case,
 * and no bias of the kernel's sums.
 *     t = mean/(deviation/sqrt(seeds)), infinite where all seeds agree on a number but 0; for `ones` of the part of the
 *     mean beyond ATTEST_BIAS_ONES: numbers above 1 are 2u apart, those below u, so that x and -x, equally probable,
 *     are rounded to numbers whose mean is not 0, but at most u/2 (as 3u/4: 0 and -u).  Numerator and denominator
 *     summed in different orders give such x: means to 0.31 u were seen, in sums of 46 equally distributed numbers
 *     biased: under Student's law with seeds - 1 degrees of freedom |t| is less probable than 4 deviations of a normal
 *     law (6e-5): above 8.47 of 8 seeds, 5.48 of 16; |t| > 4 alone would be true of 1 in 190 unbiased groups of 8 */
#define ATTEST_BIAS_SEEDS 8  /* fewer: the group is left out */
#define ATTEST_BIAS_ONES 0.5 /* u */
typedef struct attest_bias {
    char kernel[512], class[96], family[32];
    size_t seeds;
    double mean, deviation, t;
    int biased;
} attest_bias;

/* The cases of one group and one seed. */
typedef struct attest_seed_bias {
    char kernel[512], class[96], family[32];
    int64_t seed;
    double sum;
    size_t cases;
} attest_seed_bias;

/* The results of one kernel whose errors were set beside those of plain arithmetic (verify/typical/typical.h). */
typedef struct attest_typical_tally {
    char kernel[512];
    size_t cases, worse, better, left; /* left: not modelled */
    double largest;                    /* factor */
    char problem[1024], why[160];      /* of the largest; the first reason why not modelled */
} attest_typical_tally;

/* The results of one kernel whose bits were set beside those predicted for a GPU (verify/exchange/predict.h). */
typedef struct attest_predicted_tally {
    char kernel[512];
    size_t cases, equal, left;                /* left: not predicted */
    char first[208], problem[1024], why[208]; /* where bits differ first, and its case; the first reason why not */
} attest_predicted_tally;

typedef struct attest_warnings {
    attest_predicted_tally *predicted; /* in order of first appearance of the kernel */
    size_t predicted_count, predicted_capacity;
    attest_typical_tally *typical; /* in order of first appearance of the kernel */
    size_t typical_count, typical_capacity;
    attest_probabilistic *probabilistic; /* in order of first appearance of the kernel */
    size_t probabilistic_count, probabilistic_capacity;
    char repeating[1024];   /* the families told apart that were met: `flat, ones` */
    attest_seed_bias *seed; /* until the end */
    size_t seed_count, seed_capacity;
    attest_bias *bias; /* from the end on: sorted by kernel, class, family */
    size_t bias_count;
} attest_warnings;

attest_status attest_warnings_take(attest_warnings *warnings, const attest_result *result, attest_error *err);
attest_status attest_warnings_end(attest_warnings *warnings, attest_error *err);
void attest_warnings_clear(attest_warnings *warnings);
/* As tables, Markdown or HTML; nothing where there are none. */
attest_status attest_warnings_print(FILE *out, const attest_warnings *warnings, int html, attest_error *err);
/* A line for each kernel with a ratio above 1 outside those families, for each biased group, and for each kernel whose
 * errors were set beside those of plain arithmetic, or its bits beside predicted ones: how many cases were, and which
 * finding it is. */
void attest_warnings_tell(FILE *out, const attest_warnings *warnings);

/* ---- all of it --------------------------------------------------------------------------------------------------- */
/* What of a result decides where it stands. */
typedef struct attest_place {
    int rank;
    double ratio; /* ratio_hi, or -1 */
    size_t kernel, index;
    int whole_kernel; /* no case: the kernel was skipped */
    uint64_t problem; /* a hash of the problem line */
} attest_place;

/* Of a list that holds some of a run's results only (reports/compact): what all of them add up to.  Warnings are not
 * told of it. */
typedef struct attest_whole {
    size_t results, cases, by_verdict[ATTEST_VERDICT_COUNT];
    attest_tallies tallies;
    attest_signs signs;
    attest_powers powers;
    attest_classes classes;
} attest_whole;
void attest_whole_clear(attest_whole *whole);

typedef struct attest_overview {
    const attest_results *of; /* while it is made */
    attest_place *place;      /* of each result, in the order of the results */
    size_t count, capacity, by_verdict[ATTEST_VERDICT_COUNT];
    size_t results;                                    /* of the run; more than `count` where not all are kept */
    size_t cases;                                      /* different problem lines */
    size_t regressions;                                /* results that a comparison with a baseline noted as failures */
    char tool[32], suite[64], suite_hash[20], run[32]; /* of the first */
    char (*build)[160];                                /* flags of the libraries, each once */
    size_t builds;
    attest_tallies tallies;
    attest_signs signs;
    attest_powers powers;
    attest_classes classes;
    attest_warnings warnings;
} attest_overview;

/* What a run came to, for who reads one line.  FAIL: a result failed, crashed or was late; PARTIAL: none did, but one
 * is undecided, partial or no evidence, or has the verdict that --fail-on names, or the run (`run`, or NULL) did not
 * finish. */
typedef enum attest_outcome { ATTEST_ALL_PASS, ATTEST_SOME_FAIL, ATTEST_SOME_OPEN, ATTEST_NONE_JUDGED } attest_outcome;
extern const char *const attest_outcome_names[4];
attest_outcome attest_overview_outcome(const attest_overview *overview, const attest_run_info *run);
/* `PASS 22 kernels, 5052 cases, 21116 results: 0 fail, 120 illposed, 277 skip`: kernels with a result that is no skip;
 * fail always, regressions since a baseline apart from them, other verdicts but pass and measured where there are some;
 * the result that stands for cases which were not run is in no count.  Then ` (--fail-on=skip)` where that leaves a
 * part open, `, unfinished`, and of a shard `, of shard 2/3 alone`. */
void attest_headline(char *text, size_t len, const attest_overview *overview, const attest_run_info *run);

/* What failures would pass under (run->would_pass), each by `print` between `before` and `after`; nothing where nothing
 * fits, and where `run` is NULL. */
void attest_would_pass_print(FILE *out, const attest_run_info *run, const char *before, const char *after,
                             void (*print)(FILE *out, const char *text));

/* `312 of 26189 results are kept ...` for a list that holds some only; "": it holds all. */
void attest_overview_kept(char *text, size_t len, const attest_overview *overview);

/* One pass over the results. */
attest_status attest_overview_of(attest_overview *overview, const attest_results *results, attest_error *err);
void attest_overview_clear(attest_overview *overview);

/* The summary, and what the verdicts rest on (nothing for an empty list). */
attest_status attest_summary_write(const attest_results *results, const attest_overview *overview,
                                   const attest_facts *facts, const attest_run_info *run, const char *path,
                                   attest_error *err);
attest_status attest_summary_print(FILE *out, const attest_results *results, const attest_overview *overview,
                                   const attest_facts *facts, const attest_run_info *run, attest_error *err);
attest_status attest_facts_print(FILE *out, const attest_facts *facts, const attest_overview *overview, int html,
                                 attest_error *err);

/* The entry of a growing array of `size` bytes each that `match` accepts, made (zeros) where there is none; NULL: no
 * memory.  *fresh: it was made. */
void *attest_find_or_add(void **list, size_t *count, size_t *capacity, size_t size,
                         int (*match)(const void *entry, const attest_result *result), const attest_result *result,
                         int *fresh);

#endif

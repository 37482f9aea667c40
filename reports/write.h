/* write.h - inside reports/: files that are whole or not there, and access to a row's fields.
 */
#ifndef ATTEST_WRITE_H
#define ATTEST_WRITE_H

#include "reports/report.h"

/* PATH.tmp until it is closed well, then PATH. */
typedef struct attest_output {
    FILE *file;
    char path[4096], temporary[4112];
} attest_output;

/* ATTEST_BAD_INPUT names the path. */
attest_status attest_output_open(attest_output *out, const char *path, attest_error *err);

/* status ATTEST_OK: flush, close, rename (ATTEST_IO if that fails); else: close and remove the temporary
 * file and return `status`.  Takes a failed open too. */
attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err);

double attest_field_real(const attest_row *row, const attest_field *field);
int64_t attest_field_int(const attest_row *row, const attest_field *field);

/* Any field as text: reals %.17g, verdict and reasons by name. */
void attest_field_text(char *text, size_t len, const attest_row *row, const attest_field *field);

/* Text with & < > " escaped, for XML and HTML; control characters become spaces. */
void attest_print_xml(FILE *out, const char *text);

/* Text as a cell of a Markdown table: | escaped, a new line becomes a space. */
void attest_print_cell(FILE *out, const char *text);

/* What the console, Markdown and HTML tables show per kernel. */
typedef struct attest_tally {
    char kernel[512];
    size_t cases, by_verdict[ATTEST_VERDICT_COUNT];
    double worst_ratio, worst_ulp; /* -1: none */
    char worst_line[1024];         /* of worst_ratio */
} attest_tally;

/* malloc'd list in order of first appearance. */
attest_status attest_tally_rows(attest_tally **tallies, size_t *count, const attest_rows *rows, attest_error *err);

/* Cases of one variant together that have negative weights, a negative z or a divisor that may be 0: a class of their
 * own, for there o may be ill-posed while u and z are judged. */
typedef struct attest_signs {
    char variant[64]; /* `variant=...` of the lines */
    size_t cases, illposed;
    int64_t rows, negative_weight, negative_sum, vanishing;
} attest_signs;

/* malloc'd list in order of first appearance; variants without any such row are left out. */
attest_status attest_signs_rows(attest_signs **signs, size_t *count, const attest_rows *rows, attest_error *err);

/* The same as a table, Markdown or HTML; nothing where there is no such row. */
attest_status attest_signs_print(FILE *out, const attest_rows *rows, int html, attest_error *err);

/* The judged cases of one class (row.h) together: how error/bound is distributed.  Quantiles are nearest ranks: the
 * ceil(q n)-th smallest of n. */
typedef struct attest_class_figures {
    char name[96];
    size_t cases;               /* with an error/bound */
    double median, p99, largest; /* of the cases' largest error/bound (ratio_hi) */
    double slack;               /* 1/median: bound/error of the worst element of the case in the middle */
    double slack_element;       /* the same of the cases' medians over elements (ratio_median); NAN: no such case */
    double share[5];            /* mean shares of the bound at the worst elements: score, exp, cast, sums, division */
} attest_class_figures;

/* malloc'd list, sorted by name. */
attest_status attest_classes_rows(attest_class_figures **classes, size_t *count, const attest_rows *rows,
                                  attest_error *err);

/* The same as a table, Markdown or HTML; nothing where no row has an error/bound. */
attest_status attest_classes_print(FILE *out, const attest_rows *rows, int html, attest_error *err);

/* ---- warnings: no verdict and no exit code depends on them ---- */

/* Families that repeat scores, weights or values by construction, in some type or width: equal numbers are rounded
 * alike, so that R-PROBABLE says nothing of them. */
#define ATTEST_REPEATING_FAMILIES \
    "flat", "ones", "onehot", "range", "dyadic", "integers", "repeat-max", "cast-edge", "zero-keys", \
    "stairs", "large-products", "taylor-roots", "p-underflow"

/* The rows of one kernel that have a probable_ratio. */
typedef struct attest_probable {
    char kernel[512];
    size_t cases, above;          /* all but those of the families above; with a ratio above 1 */
    double largest;
    char line[1024];              /* of the largest */
    size_t apart, apart_above;    /* of those families */
    double apart_largest;
} attest_probable;

/* malloc'd list in order of first appearance; kernels without any such row are left out. */
attest_status attest_probable_rows(attest_probable **list, size_t *count, const attest_rows *rows, attest_error *err);

/* The mean error away from 0 (`drift`) over the cases of one kernel, class and family: `ones` (v = 1) or `repeat-max`
 * (each channel of v has one sign).  Errors of one case agree, so cases are what is counted; those of one seed share
 * their draws, and count as one, by their mean.  Left out: MEASURED rows; lines that name acc (out may be finer than
 * it); scales that are no power of two (none named: d one of four), for the rounding of such a scale is the same in
 * every case, and no bias of the kernel's sums.
 *     t = mean/(deviation/sqrt(seeds)), infinite where all seeds agree on a number but 0; for `ones` of the part of the
 *     mean beyond ATTEST_BIAS_ONES: numbers above 1 are 2u apart, those below u, so that x and -x, equally probable,
 *     are rounded to numbers whose mean is not 0, but at most u/2 (as 3u/4: 0 and -u).  Numerator and denominator
 *     summed in different orders give such x: means to 0.31 u were seen, in sums of 46 equally distributed numbers
 *     biased: under Student's law with seeds - 1 degrees of freedom |t| is less probable than 4 deviations of a normal
 *     law (6e-5): above 8.47 of 8 seeds, 5.48 of 16; |t| > 4 alone would be true of 1 in 190 unbiased groups of 8 */
#define ATTEST_BIAS_SEEDS 8  /* fewer: the group is left out */
#define ATTEST_BIAS_ONES 0.5 /* u */
typedef struct attest_bias {
    char kernel[512], class[96], family[64];
    size_t seeds;
    double mean, deviation, t;
    int biased;
} attest_bias;

/* malloc'd list, sorted by kernel, class, family. */
attest_status attest_bias_rows(attest_bias **list, size_t *count, const attest_rows *rows, attest_error *err);

/* Both as tables, Markdown or HTML; nothing where there is no such row. */
attest_status attest_warnings_print(FILE *out, const attest_rows *rows, int html, attest_error *err);
/* A line for each kernel with a ratio above 1 outside those families, and for each biased group. */
attest_status attest_warnings_tell(FILE *out, const attest_rows *rows, attest_error *err);

/* Compiler, versions, builds of the kernels, lemmas; nothing for an empty list. */
void attest_facts_print(FILE *out, const attest_facts *facts, const attest_rows *rows, int html);

/* 1 if the row deserves attention: not pass, skip, illposed or measured. */
int attest_row_bad(const attest_row *row);

/* 0 crash and timeout, 1 fail, 2 undecided and mistrusted, 3 illposed and skip, 4 the rest: the order to tell in. */
int attest_row_rank(const attest_row *row);
#define ATTEST_RANKS 5
#define ATTEST_RANKS_BAD 3 /* ranks below it are attest_row_bad() */

#endif

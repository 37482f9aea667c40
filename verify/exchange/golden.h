/* golden.h - private to the room: truth and bounds of a case as files, for programs that link no MPFR.
 *
 * For o, and for lse where the variant has it (and the declaration no other base and no sink in it):
 *
 *     DIR/0001/o.truth.npy    the correctly rounded truth in o's own type and shape: the best o.npy there is; NaN
 *                             where there is no truth
 *     DIR/0001/o.golden.npy   f8, shape (4, elements of o), its rows over the elements in C order:
 *         0 truth             the double nearest to the truth
 *         1 bound             of the error of a kernel of this declaration, rounded up
 *         2 first, 3 last     the least and the greatest value of o's type, infinities included, that is not proved to
 *                             be farther from the truth than the bound: an element's verdict, without a distance
 *     DIR/golden.txt          a line a file, CASE OUTPUT TYPE ELEMENTS VERDICT SHAPE, `0001 o <f4 6 pass (1, 1, 3, 2)`;
 *                             TYPE and SHAPE as o.npy must say them; VERDICT of outputs that are all within, of lse's
 *                             line that of o and lse together.  Its first line is `# attest golden 1: ..`, its last
 *                             `# end N` with the number of files: without it the pack is cut off
 *
 * What an element is, by its bound: a number: first <= x <= last passes, and if both are NaN, a NaN must stand there;
 * -0: as 0, or a NaN (a row without keys, under empty_row=nan; one that is absent, of lens_q: first is -inf, last is
 * inf); inf: no bound is proved, and what is outside first and
 * last is wrong: NaN, an infinity of the wrong sign; NaN: nothing is known (ill-posed, absent, no truth, or a row
 * without keys that the declaration leaves open: mean, any).  Elements of the two last kinds are why a VERDICT is
 * `partial`, or, of all o, `undecided`; `no-evidence` is of a case that zeros would pass.  A verdict that the suite
 * allows is `pass`, or `skip`.
 *
 * Every row has its bounds; a gate looks at a sample of them where n > 256.  Bytes depend on the inputs, the
 * declaration, what the suite allows, and the version of FLINT: its bounds are rounded up in its own way.
 */
#ifndef ATTEST_GOLDEN_H
#define ATTEST_GOLDEN_H

#include "verify/exchange/exchange_files.h"

#define ATTEST_GOLDEN_LIST "golden.txt"

typedef struct attest_golden {
    FILE *list; /* golden.txt */
    const char *dir;
    const attest_suite *suite;
    int64_t lines; /* added to: files named */
    int64_t open;  /* added to: roundings to the output's type that are not decided */
} attest_golden;

/* The first lines of golden.txt. */
attest_status attest_golden_begin(const attest_golden *golden, attest_error *err);

/* The last line. */
attest_status attest_golden_end(const attest_golden *golden, attest_error *err);

/* Writes the files of one case and their lines.  `prepared` has a truth. */
attest_status attest_golden_case(attest_golden *golden, const attest_prepared *prepared, const char *folder,
                                 const attest_declared *declared, attest_error *err);

#endif

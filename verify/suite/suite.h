/* suite.h - suites are files: problem lines with {a,b} lists, one a line, and !skip lines.
 *
 * Answers which cases a suite has, and which are skipped, why. Runs none.
 *
 * `key=x{a,b}y` expands to every combination, left to right, at most 10^6 of one line and in all, and 10^4
 * rules of a kind;
 * `!skip KERNELGLOB key=value ... : reason` marks cases (all named keys equal after parsing) of matching kernels as
 * skip with that reason;
 * `!allow partial [CLASS,..] KERNELGLOB key=value ... : reason` (lists allowed) lets such cases pass although elements
 * of these classes (unbounded, illposed, absent, without-truth; default all four) were not judged: else `partial`.
 * Where each element is ill-posed, which is allowed, the result is a skip in place of `undecided`.
 * Class blind, which must be named: rows whose bounds let zeros pass; where no element of o tells anything, the result
 * is then a skip in place of `no-evidence`;
 * `!floor COUNT key=value ...` (lists allowed: each combination is a floor of its own) makes reading fail unless
 * at least COUNT cases of the suite have all these settings; `!include NAME` stands for the lines of a built-in suite;
 * those of pairs count as drawn, and no case comes behind them.
 * # starts a comment.  verify/suites/NAME.suite; the
 * built-in copies are compiled in, so attest runs anywhere.
 */
#ifndef ATTEST_SUITE_H
#define ATTEST_SUITE_H

#include "kernels/problem/problem.h"

/* Cases of kernels: a rule holds where the glob fits the kernel and the case has all settings. */
typedef struct attest_case_rule {
    char kernel[64];
    char settings[ATTEST_LINE];
    char reason[160];
    unsigned classes; /* of !allow: set of ATTEST_LEFT_* */
} attest_case_rule;

typedef struct attest_suite {
    char name[64];
    uint64_t hash; /* of the text */
    int builtin;   /* 0: a file */
    size_t case_count;
    size_t *line; /* [line_capacity]: where the line of each case begins in `text` */
    char *text;   /* canonical lines, each ended by a 0 */
    size_t line_capacity, text_size, text_capacity;
    size_t drawn; /* the last so many cases are of a covering array: pairs, or drawn now (verify/gate/cover_suite.h) */
    attest_case_rule *skips, *allows;
    size_t skip_count, allow_count;
} attest_suite;

/* `name` is a built-in suite or a path: smoke, ci, full; pairs, a part of ci and full; killers, cases of ci when it was
 * written; flash_attn, pytorch, ggml, fla, benchdnn: the inputs of other projects' tests, see peer_gates.h.
 * ATTEST_BAD_INPUT names file and line. */
attest_status attest_suite_read(attest_suite *suite, const char *name, attest_error *err);
void attest_suite_clear(attest_suite *suite);

/* A suite holds the lines of its cases: some 100 bytes each.  The line of case `index`, borrowed until a case is added;
 * and the case. */
const char *attest_suite_line(const attest_suite *suite, size_t index);
void attest_suite_case(attest_case *c, const attest_suite *suite, size_t index);
/* 1 if the line is that of a drawn case. */
int attest_suite_draws(const attest_suite *suite, const char *line);
/* Appends a case, also one that is there already. */
attest_status attest_suite_add(attest_suite *suite, const attest_case *c, attest_error *err);

/* Keeps only the cases whose line matches the glob (fnmatch), in their order. */
void attest_suite_keep(attest_suite *suite, const char *glob);

/* The same of the settings `key=value ...`, which must all be the case's.  ATTEST_BAD_INPUT names a setting that no
 * case can have. */
attest_status attest_suite_where(attest_suite *suite, const char *settings, attest_error *err);
/* 1 if the case has all of these settings. */
int attest_suite_has(const attest_case *c, const char *settings);

/* The reason if the case is to be skipped for this kernel, else NULL. */
const char *attest_suite_skip(const attest_suite *suite, const char *kernel, const attest_case *c);
/* The reason (the last of several) if all classes of elements that were left out (ATTEST_LEFT_*) may be for this kernel
 * and case; else NULL. */
const char *attest_suite_allow(const attest_suite *suite, const char *kernel, const attest_case *c, unsigned classes);

#endif

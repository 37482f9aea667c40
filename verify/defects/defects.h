/* defects.h - the kill matrix: which check of a suite catches which planted defect (kernels/defects/list.h).
 *
 * Answers what each check is worth. Runs kernels through verify/gate only.
 *
 * A defect runs cases of the suite that its base kernel serves, beside the base kernel.  It `differs` on a case
 * where its outputs' bits differ from the base kernel's, or where a check tells the two apart, and `killed` by
 * the reasons of a row that fails, crashes or hangs where the base kernel's row does not.  Under another judge
 * (peer_gates.h) bits are those of the outputs that it asks for, and a run that died on attest's own guard pages, or
 * that was late, is `stopped`: elsewhere it would have gone on, so it counts for nothing.
 */
#ifndef ATTEST_DEFECTS_H
#define ATTEST_DEFECTS_H

#include <stdio.h>

#include "reports/report.h"
#include "verify/base/base.h"
#include "verify/gate/gate.h"
#include "verify/suite/suite.h"

typedef struct attest_defect {
    const char *id; /* an identifier */
    const char *base, *bugs, *what;
} attest_defect;

/* The kernel's name: the id with `-` for `_`, into name[128]. */
const char *attest_defect_name(char name[128], const attest_defect *defect);

extern const attest_defect attest_defects[];
extern const size_t attest_defect_count;

/* The checks: every reason of a row, then crash and timeout. */
enum { ATTEST_CHECK_CRASH = ATTEST_REASON_COUNT, ATTEST_CHECK_TIMEOUT, ATTEST_CHECK_COUNT };
const char *attest_check_name(int check);

typedef struct attest_defect_result {
    int64_t run, differs, killed;   /* cases: run beside the base kernel, with other bits, killed */
    int64_t stopped;                /* cases, under another judge: guard pages touched, or late; no output */
    int64_t by[ATTEST_CHECK_COUNT]; /* cases on which this check was among those that killed */
    double work;                    /* of the smallest case that kills: pairs times (d + e); INFINITY: none */
    size_t index;                   /* its number in the suite */
    uint32_t reasons;               /* bits of its checks */
    double margin;                  /* its largest error/bound, lower end, above 1; NAN: no bound killed */
    char line[1024];                /* its problem line */
    int smoke;                      /* a case of the smaller suite kills too */
} attest_defect_result;

/* result[attest_defect_count]: of the suite.  `plugin`: the library of defects.  Kernels that match no selected
 * defect's glob (options->kernel on names with `-`, or NULL) do not run; their results stay zero.  `judge`: runner.h,
 * NULL for attest's own.
 *
 * `whole`: every defect runs every case, by rising work.  Otherwise the cases of suite killers come first (those that
 * killed a defect soonest when it was written), then the others in an order that mixes the suite, and a defect runs
 * until one kills it: `run` and `differs` count until then, and checks, `work` and line are those of that
 * case.  A defect without a kill has run every case all the same.  Both are the same for any number of threads. */
attest_status attest_defects_run(attest_defect_result *result, const attest_options *options, const attest_suite *suite,
                                 const char *plugin, const attest_judge *judge, int whole, attest_error *err);
int attest_defect_selected(const attest_options *options, const attest_defect *defect);

/* The matrix, survivors first, then what each check kills and what only it kills.  `suite`: its name; `whole`: as it
 * was run. */
void attest_defects_print(FILE *out, const attest_options *options, const attest_defect_result *result,
                          const char *suite, int whole);
/* Markdown with bugs and words; JSON: one object per line. */
void attest_defects_markdown(FILE *out, const attest_options *options, const attest_defect_result *result,
                             const char *suite, int whole);
void attest_defects_json(FILE *out, const attest_options *options, const attest_defect_result *result, int whole);

#endif

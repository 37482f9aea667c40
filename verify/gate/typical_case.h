/* typical_case.h - the second yardstick (verify/typical/typical.h) asked of a kernel on a case, and on more seeds.
 */
#ifndef ATTEST_TYPICAL_CASE_H
#define ATTEST_TYPICAL_CASE_H

#include "verify/base/base.h"
#include "verify/gate/runner.h"

#define ATTEST_TYPICAL_SEEDS 3

/* Fills the fields typical* of a result that passed what was judged of it, or failed by its bound alone; another one
 * stays as it is.  Runs the kernel
 * once more, and where it is worse than plain, on the case with other seeds: worse-than-plain is found only if it is on
 * all ATTEST_TYPICAL_SEEDS of them; typical_factor then is the least.  A case whose inputs no seed draws (family=trace)
 * is never found worse, and says so.  With options->typical = 2 the finding makes the verdict fail, reason typical. */
attest_status attest_typical_case(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                  const attest_options *options, attest_error *err);

#endif

/* props_explain.h - what the truth says of a broken example: is the output itself wrong, and where would its error have
 * room.
 *
 * The example is run and judged as any case (runner.h).  Told of the worst element: got and truth, error/bound, and for
 * each source of error (score, exp, cast, accumulation, division) its share of the bound and what error/bound would be
 * if that source were exact: bound/(bound - term) times more.
 */
#ifndef ATTEST_PROPS_EXPLAIN_H
#define ATTEST_PROPS_EXPLAIN_H

#include <stdio.h>

#include "verify/gate/gate.h"

/* `inputs`: every input of the case; borrowed. */
attest_status attest_props_explain(FILE *out, const attest_subject *subject, const attest_case *c,
                                   const attest_bundle *inputs, double timeout_s, attest_error *err);

/* The lines alone, of a judged row. */
void attest_props_explain_row(FILE *out, const attest_result *row);

#endif

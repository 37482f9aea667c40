/* judge_steps.c - the steps of one row of the truth as enclosures, for who looks for the step where an error begins. */
#include "reference/judge/judge.h"

#include <math.h>

static attest_interval interval_of(const arb_t x) { return (attest_interval){ ref_lower(x), ref_upper(x) }; }

attest_status attest_truth_steps(attest_steps *steps, attest_truth *truth, attest_row at, attest_error *err)
{
    const attest_problem *p = ref_truth_inputs(truth)->p;
    const attest_interval unknown = { NAN, NAN };
    attest_status status = ATTEST_OK;
    ref_row *row;
    for (int64_t j = 0; j < p->m; j++)
        steps->s[j] = steps->w[j] = unknown;
    for (int64_t c = 0; c < p->e; c++)
        steps->u[c] = steps->o[c] = unknown;
    steps->z = steps->lse = steps->center = unknown;
    ATTEST_TRY(ref_truth_row_settled(&row, truth, at, err));
    if (row->no_truth || row->empty)
        return ATTEST_OK;
    for (int64_t c = 0; c < p->e; c++) {
        steps->u[c] = interval_of(row->u + c);
        steps->o[c] = row->illposed ? unknown : interval_of(row->o + c);
    }
    if (p->axis[ATTEST_AXIS_UPDATE].value != ATTEST_UPDATE_ADD)
        return ATTEST_OK;
    for (int64_t j = 0; j < row->keys; j++) {
        steps->s[row->first + j] = interval_of(row->s + j);
        steps->w[row->first + j] = interval_of(row->w + j);
    }
    steps->z = interval_of(row->z);
    steps->center = interval_of(row->c);
    if (!row->lse_absent && !row->lse_open)
        steps->lse = interval_of(row->lse);
out:
    return status;
}

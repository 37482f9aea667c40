/* props_explain.c - see props_explain.h. */
#include "verify/properties/props_explain.h"

#include <math.h>
#include <string.h>

static void print_sources(FILE *out, const attest_result *row)
{
    const struct {
        const char *name;
        double term;
    } sources[] = { { "score", row->term_score },
                    { "exp", row->term_exp },
                    { "cast", row->term_cast },
                    { "accumulation", row->term_accumulation },
                    { "division", row->term_division } };
    for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++) {
        const double left = row->bound - sources[k].term;
        if (!(sources[k].term > 0 && sources[k].term >= 0.0005 * row->bound))
            continue; /* it would be told as 0.0 %, and beside a bound of 0 as no number */
        fprintf(out, "           %-12s %5.1f %% of the bound; if it were exact, error/bound ", sources[k].name,
                100 * sources[k].term / row->bound);
        if (left > 0)
            fprintf(out, "%.4g\n", row->ratio_hi * (row->bound / left));
        else
            fprintf(out, "%s\n", row->ratio_hi > 0 ? "infinite" : "0");
    }
}

void attest_props_explain_row(FILE *out, const attest_result *row)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    fprintf(out, "judged     %s%s%s against the truth", attest_verdict_names[row->verdict], *reasons ? ": " : "",
            reasons);
    if (row->worst[0] && isfinite(row->bound)) {
        fprintf(out, "; worst %s: got %s, truth %s\n           error/bound %.4g, bound %.4g\n", row->worst, row->got,
                row->truth, row->ratio_hi, row->bound);
        print_sources(out, row);
    } else
        fprintf(out, "%s%s\n", row->why[0] ? ": " : "", row->why);
}

attest_status attest_props_explain(FILE *out, const attest_subject *subject, const attest_case *c,
                                   const attest_bundle *inputs, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared prepared = { .line = "" };
    attest_bundle *copy = NULL;
    attest_result row;
    attest_tensor_id ids[ATTEST_MAX_TENSORS];
    const size_t count = attest_problem_inputs(&c->problem, ids, ATTEST_MAX_TENSORS);
    int supported = 0;
    attest_result_init(&row);
    ATTEST_TRY(attest_bundle_new(&copy, err));
    for (size_t k = 0; k < count; k++) {
        attest_tensor *t;
        ATTEST_TRY(attest_bundle_add(copy, &c->problem, ids[k], 0, &t, err));
        memcpy(t->data, attest_bundle_get(inputs, ids[k])->data, attest_tensor_bytes(t));
    }
    status = attest_prepare_inputs(&prepared, c, copy, err); /* takes the copy over, on failure too */
    copy = NULL;
    if (status != ATTEST_OK)
        goto out;
    ATTEST_TRY(attest_run_case(&row, &supported, &prepared, subject, NULL, timeout_s, err));
    if (supported)
        attest_props_explain_row(out, &row);
out:
    attest_bundle_free(copy);
    attest_prepared_clear(&prepared);
    return status;
}

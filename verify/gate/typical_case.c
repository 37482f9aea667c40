/* typical_case.c - see typical_case.h. */
#include "verify/gate/typical_case.h"

#include <stdio.h>
#include <string.h>

#include "verify/typical/typical.h"

/* Runs the kernel on a prepared case and measures its o. */
static attest_status measure(attest_typical *typical, const attest_prepared *prepared, const attest_subject *subject,
                             double timeout_s, attest_error *err)
{
    const attest_kernel_facts *kernel = attest_worker_kernel(subject->worker, subject->index);
    const attest_problem *p = &prepared->c.problem;
    attest_status status = ATTEST_OK;
    attest_bundle *bundle = NULL;
    attest_run_result run;
    attest_declared declared;
    memset(&run, 0, sizeof run);
    *typical = (attest_typical){ .state = ATTEST_TYPICAL_NOT_MODELLED };
    snprintf(typical->why, sizeof typical->why, "another run of the kernel did not end well");
    ATTEST_TRY(attest_worker_declared(subject->worker, subject->index, p, &declared, err));
    ATTEST_TRY(attest_case_bundle(&bundle, prepared, kernel, err));
    ATTEST_TRY(attest_worker_run(subject->worker, subject->index, p, bundle, timeout_s, &run, err));
    if (run.state != ATTEST_RUN_DONE || run.status != ATTEST_OK)
        goto out;
    ATTEST_TRY(attest_typical_measure(typical, prepared->truth, &prepared->c, prepared->inputs,
                                      attest_bundle_role(bundle, ATTEST_O), &declared.numerics, declared.flags, err));
out:
    attest_bundle_free(bundle);
    return status;
}

/* The same case with another seed. */
static attest_status measure_seed(attest_typical *typical, const attest_prepared *prepared,
                                  const attest_subject *subject, uint64_t more, double timeout_s, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_prepared other;
    attest_case c = prepared->c;
    c.seed += more;
    ATTEST_TRY(attest_prepare_inputs(&other, &c, NULL, err));
    status = measure(typical, &other, subject, timeout_s, err);
    attest_prepared_clear(&other);
out:
    return status;
}

/* One that failed by its bound alone is measured as well: the factor is worth knowing. */
static int is_measured(const attest_result *result)
{
    return attest_result_judged_good(result) ||
           (result->verdict == ATTEST_FAIL && result->reasons == ATTEST_REASON_BOUND);
}

static void tell(attest_result *result, const attest_typical *t, int strict)
{
    static const char *const names[] = { [ATTEST_TYPICAL_AS_PLAIN] = "as-plain",
                                         [ATTEST_TYPICAL_WORSE] = "worse-than-plain",
                                         [ATTEST_TYPICAL_BETTER] = "better-than-plain" };
    if (t->state == ATTEST_TYPICAL_NOT_MODELLED) {
        snprintf(result->typical, sizeof result->typical, "not modelled: %.140s", t->why);
        return;
    }
    snprintf(result->typical, sizeof result->typical, "%s", names[t->state]);
    result->typical_rms = t->rms;
    result->typical_quantile = t->quantile;
    result->typical_factor = t->factor;
    if (!strict || t->state != ATTEST_TYPICAL_WORSE || result->verdict == ATTEST_FAIL)
        return;
    result->verdict = ATTEST_FAIL;
    result->reasons |= ATTEST_REASON_TYPICAL;
    snprintf(result->why, sizeof result->why,
             "worse-than-plain: the rms error of o is %.3g times that of plain "
             "arithmetic of the declared kind, on each of %d seeds",
             t->factor, ATTEST_TYPICAL_SEEDS);
}

attest_status attest_typical_case(attest_result *result, const attest_prepared *prepared, const attest_subject *subject,
                                  const attest_options *options, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_typical typical, other;
    if (!is_measured(result))
        return ATTEST_OK;
    ATTEST_TRY(measure(&typical, prepared, subject, options->timeout, err));
    const int drawn = strncmp(prepared->c.family, "trace", 5) != 0;
    for (uint64_t more = 1; more < ATTEST_TYPICAL_SEEDS && drawn && typical.state == ATTEST_TYPICAL_WORSE; more++) {
        ATTEST_TRY(measure_seed(&other, prepared, subject, more, options->timeout, err));
        if (other.state != ATTEST_TYPICAL_WORSE || other.factor < typical.factor)
            typical = other;
    }
    if (!drawn && typical.state == ATTEST_TYPICAL_WORSE) {
        const double factor = typical.factor;
        typical.state = ATTEST_TYPICAL_NOT_MODELLED;
        snprintf(typical.why, sizeof typical.why, "%.3g times the error of plain arithmetic, but no other seed to try",
                 factor);
    }
    tell(result, &typical, options->typical == 2);
out:
    return status;
}

/* gate_traits.c - the classifier over the kernels of an audit: traits, and results of what is wrong. */
#include <stdio.h>
#include <string.h>

#include "verify/classify/classify.h"
#include "verify/gate/gate.h"
#include "verify/gate/runner.h"

/* A result without a case: kernel and run are those of the audit, the command that finds it again is the audit. */
static void open_result(attest_result *result, const attest_results *results, const attest_subject *subject,
                        const char *line)
{
    char program[512], name[1024];
    attest_result_identify(result, subject, NULL);
    snprintf(result->problem, sizeof result->problem, "%s", line);
    if (results->count > 0) {
        snprintf(result->suite, sizeof result->suite, "%s",
                 attest_results_text(results, 0, offsetof(attest_result, suite)));
        snprintf(result->suite_hash, sizeof result->suite_hash, "%s",
                 attest_results_text(results, 0, offsetof(attest_result, suite_hash)));
        snprintf(result->run, sizeof result->run, "%s", attest_results_text(results, 0, offsetof(attest_result, run)));
    }
    attest_shell_quote(program, sizeof program, subject->program);
    attest_shell_quote(name, sizeof name, result->kernel);
    snprintf(result->reproduction, sizeof result->reproduction, "%s audit %s", program, name);
}

static attest_status add_failures(attest_results *results, const attest_traits *traits, size_t from,
                                  const attest_subject *subject, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t n = from; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        if (t->verdict != ATTEST_TRAIT_FAIL)
            continue;
        open_result(&result, results, subject, "");
        result.verdict = ATTEST_FAIL;
        result.reasons = ATTEST_REASON_CLAIM;
        snprintf(result.why, sizeof result.why, "%s: declared %s, inferred %s", t->trait, t->declared, t->inferred);
        ATTEST_TRY(attest_results_add(results, &result, err));
    }
out:
    return status;
}

static attest_status add_fault(attest_results *results, const attest_classify_fault *fault,
                               const attest_subject *subject, attest_error *err)
{
    attest_result result;
    if (!*fault->line)
        return ATTEST_OK;
    open_result(&result, results, subject, fault->line);
    attest_result_end(&result, &fault->run, attest_worker_kernel(subject->worker, subject->index)->device_type, NULL);
    snprintf(result.why, sizeof result.why, "in a probe of its arithmetic: %.200s", fault->run.why);
    return attest_results_add(results, &result, err);
}

static attest_status classify_library(attest_results *results, attest_traits *traits, const attest_gate *gate,
                                      const char *library, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_subject subject = { .library = library, .program = gate->options->program };
    attest_classify_fault fault;
    char name[512];
    attest_library_hash(subject.file_hash, library);
    ATTEST_TRY(attest_worker_start(&subject.worker, library, gate->options->timeout, err));
    for (; subject.index < attest_worker_kernel_count(subject.worker); subject.index++) {
        const size_t before = traits->count;
        if (!attest_kernel_wanted(gate, attest_worker_kernel(subject.worker, subject.index)))
            continue;
        attest_subject_name(name, sizeof name, &subject);
        ATTEST_TRY(attest_classify(traits, &fault, subject.worker, subject.index, name, gate->options->timeout, err));
        ATTEST_TRY(add_failures(results, traits, before, &subject, err));
        ATTEST_TRY(add_fault(results, &fault, &subject, err));
    }
out:
    attest_worker_free(subject.worker);
    return status;
}

attest_status attest_gate_traits(attest_results *results, attest_traits *traits, const attest_gate *gate,
                                 attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t l = 0; l < gate->library_count; l++)
        ATTEST_TRY(classify_library(results, traits, gate, gate->libraries[l], err));
out:
    return status;
}

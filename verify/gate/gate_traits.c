/* gate_traits.c - the classifier over the kernels of an audit: traits, and results of what is wrong. */
#include <stdio.h>
#include <string.h>

#include "verify/classify/classify.h"
#include "verify/gate/gate_private.h"

void attest_gate_audit_options(char *command, size_t room, const attest_subject *subject)
{
    const size_t n = attest_subject_options(command, room, subject);
    char quoted[5120];
    if (!subject->suite)
        return;
    attest_shell_quote(quoted, sizeof quoted, subject->suite);
    snprintf(command + n, room - n, " --suite %s", quoted);
}

/* `PROGRAM COMMAND WORD`, and the options of the run. */
static void set_reproduction(attest_result *result, const attest_subject *subject, const char *command,
                             const char *word)
{
    const size_t room = sizeof result->reproduction;
    char program[512], quoted[5120];
    attest_shell_quote(program, sizeof program, subject->program);
    attest_shell_quote(quoted, sizeof quoted, word);
    snprintf(result->reproduction, room, "%s %s %s", program, command, quoted);
    if (strcmp(command, "audit") == 0)
        attest_gate_audit_options(result->reproduction, room, subject);
    else
        attest_subject_options(result->reproduction, room, subject);
}

/* A result without a case: kernel and run are those of the audit, the command that finds it again is the audit. */
static void open_result(attest_result *result, const attest_run_info *info, const attest_subject *subject,
                        const char *line)
{
    attest_result_identify(result, subject, NULL);
    snprintf(result->problem, sizeof result->problem, "%s", line);
    snprintf(result->suite, sizeof result->suite, "%s", info->suite);
    snprintf(result->suite_hash, sizeof result->suite_hash, "%s", info->suite_hash);
    snprintf(result->run, sizeof result->run, "%s", info->run);
    set_reproduction(result, subject, "audit", result->kernel);
}

static attest_status add_failures(attest_results *results, const attest_run_info *info, const attest_traits *traits,
                                  size_t from, const attest_subject *subject, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_result result;
    for (size_t n = from; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        if (t->verdict != ATTEST_TRAIT_FAIL)
            continue;
        open_result(&result, info, subject, "");
        result.verdict = ATTEST_FAIL;
        result.reasons = ATTEST_REASON_CLAIM;
        snprintf(result.why, sizeof result.why, "%s: declared %s, inferred %s", t->trait, t->declared, t->inferred);
        ATTEST_TRY(attest_results_add(results, &result, err));
    }
out:
    return status;
}

attest_status attest_gate_add_broken(attest_results *results, const attest_run_info *info, const attest_gate *gate,
                                     const char *kernel, int ended, const char *why, const char *kept,
                                     attest_error *err)
{
    attest_result result;
    for (size_t k = 0; k < gate->plan->kernel_count; k++) {
        const attest_plan_kernel *one = &gate->plan->kernel[k];
        const attest_subject subject = attest_gate_subject(gate, k);
        if (strcmp(one->name, kernel) != 0)
            continue;
        open_result(&result, info, &subject, "");
        result.verdict = ended ? ATTEST_CRASH : ATTEST_FAIL;
        result.reasons = ATTEST_REASON_PROPERTY;
        snprintf(result.why, sizeof result.why, "%s", why);
        if (*kept)
            set_reproduction(&result, &subject, "replay", kept);
        return attest_results_add(results, &result, err);
    }
    return attest_fail(err, ATTEST_INTERNAL, "%s: not a kernel of this audit", kernel);
}

static attest_status add_fault(attest_results *results, const attest_run_info *info, const attest_classify_fault *fault,
                               const attest_subject *subject, attest_error *err)
{
    attest_result result;
    if (!*fault->line)
        return ATTEST_OK;
    open_result(&result, info, subject, fault->line);
    attest_result_end(&result, &fault->run, subject->facts->device_type, NULL);
    snprintf(result.why, sizeof result.why, "in a probe of its arithmetic: %.200s", fault->run.why);
    return attest_results_add(results, &result, err);
}

/* It says nothing of its arithmetic. */
static int is_silent(const attest_kernel_facts *facts)
{
    attest_numerics said = facts->numerics, nothing = attest_numerics_init();
    said.struct_size = nothing.struct_size;
    return memcmp(&said, &nothing, sizeof said) == 0;
}

attest_status attest_gate_infer(attest_plan *plan, const attest_gate *gate, FILE *out, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_worker *worker = NULL;
    attest_traits traits = { 0 };
    attest_classify_fault fault;
    char words[ATTEST_DECLARATION];
    for (size_t k = 0; k < plan->kernel_count; k++) {
        const attest_plan_kernel *kernel = &plan->kernel[k];
        if (kernel->facts.differs) {
            fprintf(out, "%s: judged by what it declares of each problem\n", kernel->name);
            continue;
        }
        fault.line[0] = '\0';
        ATTEST_TRY(attest_plan_start(&worker, plan, kernel->library, gate->options->timeout, err));
        ATTEST_TRY(attest_classify(&traits, &fault, worker, kernel->index, kernel->name, gate->options->timeout, err));
        ATTEST_TRY(attest_classify_propose(words, sizeof words, &traits, is_silent(&kernel->facts), err));
        if (*words)
            ATTEST_TRY(attest_plan_assume(plan, k, words, err));
        if (*fault.line)
            fprintf(out, "%s: ended badly in a probe of its arithmetic: %s\n", kernel->name, fault.run.why);
        fprintf(out,
                *words ? "%s: judged as if it declared besides what its answers show (--declare):\n    %s\n"
                       : "%s: its answers show nothing that it does not declare%s\n",
                kernel->name, words);
        attest_traits_clear(&traits);
        attest_worker_free(worker);
        worker = NULL;
    }
out:
    attest_traits_clear(&traits);
    attest_worker_free(worker);
    return status;
}

/* A worker that cannot be had, or that ends while it is asked what a kernel declares. */
static attest_status add_loss(attest_results *results, const attest_run_info *info, const attest_subject *subject,
                              attest_status why, attest_error *err)
{
    attest_result result;
    open_result(&result, info, subject, "");
    if (!attest_result_settle(&result, why, err))
        return why;
    return attest_results_add(results, &result, err);
}

static attest_status classify_kernel(attest_results *results, attest_traits *traits, const attest_run_info *info,
                                     const attest_gate *gate, size_t k, attest_error *err)
{
    const attest_plan_kernel *kernel = &gate->plan->kernel[k];
    const size_t before = traits->count;
    attest_subject subject = attest_gate_subject(gate, k);
    attest_classify_fault fault = { .line = "" };
    attest_status status = ATTEST_OK;
    status = attest_plan_start(&subject.worker, gate->plan, kernel->library, gate->options->timeout, err);
    if (status == ATTEST_OK)
        status = attest_classify(traits, &fault, subject.worker, kernel->index, kernel->name, gate->options->timeout,
                                 err);
    attest_worker_free(subject.worker);
    if (attest_stop_signal()) { /* it may have had no time to answer */
        traits->count = before;
        return ATTEST_OK;
    }
    if (status != ATTEST_OK)
        ATTEST_TRY(add_loss(results, info, &subject, status, err));
    ATTEST_TRY(add_failures(results, info, traits, before, &subject, err));
    ATTEST_TRY(add_fault(results, info, &fault, &subject, err));
out:
    return status;
}

attest_status attest_gate_traits(attest_results *results, attest_traits *traits, const attest_run_info *info,
                                 const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t k = 0; k < gate->plan->kernel_count && !attest_stop_signal(); k++)
        ATTEST_TRY(classify_kernel(results, traits, info, gate, k, err));
out:
    return status;
}

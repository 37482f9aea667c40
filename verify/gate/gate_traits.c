/* gate_traits.c - the classifier over the kernels of an audit: traits, and rows of what is wrong. */
#include <stdio.h>
#include <string.h>

#include "verify/classify/classify.h"
#include "verify/gate/gate.h"
#include "verify/gate/runner.h"

/* A row without a case: kernel and run are those of the audit, the command that finds it again is the audit. */
static void open_row(attest_row *row, const attest_rows *rows, const attest_subject *subject, const char *line)
{
    char program[512], name[1024];
    attest_row_identify(row, subject, line, 0);
    row->hash[0] = '\0';
    if (rows->count > 0) {
        const attest_row *first = &rows->row[0];
        snprintf(row->suite, sizeof row->suite, "%s", first->suite);
        snprintf(row->suite_hash, sizeof row->suite_hash, "%s", first->suite_hash);
        snprintf(row->run, sizeof row->run, "%s", first->run);
    }
    attest_shell_quote(program, sizeof program, subject->program);
    attest_shell_quote(name, sizeof name, row->kernel);
    snprintf(row->reproduction, sizeof row->reproduction, "%s audit %s", program, name);
}

static attest_status add_failures(attest_rows *rows, const attest_traits *traits, size_t from,
                                  const attest_subject *subject, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_row row;
    for (size_t n = from; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        if (t->verdict != ATTEST_TRAIT_FAIL)
            continue;
        open_row(&row, rows, subject, "");
        row.verdict = ATTEST_FAIL;
        row.reasons = ATTEST_REASON_CLAIM;
        snprintf(row.why, sizeof row.why, "%s: declared %s, inferred %s", t->trait, t->declared, t->inferred);
        ATTEST_TRY(attest_rows_add(rows, &row, err));
    }
out:
    return status;
}

static attest_status add_fault(attest_rows *rows, const attest_classify_fault *fault, const attest_subject *subject,
                               attest_error *err)
{
    attest_row row;
    if (!*fault->line)
        return ATTEST_OK;
    open_row(&row, rows, subject, fault->line);
    attest_row_end(&row, &fault->run, attest_worker_kernel(subject->worker, subject->index)->device_type, NULL);
    snprintf(row.why, sizeof row.why, "in a probe of its arithmetic: %.200s", fault->run.why);
    return attest_rows_add(rows, &row, err);
}

static attest_status classify_library(attest_rows *rows, attest_traits *traits, const attest_gate *gate,
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
        ATTEST_TRY(add_failures(rows, traits, before, &subject, err));
        ATTEST_TRY(add_fault(rows, &fault, &subject, err));
    }
out:
    attest_worker_free(subject.worker);
    return status;
}

attest_status attest_gate_traits(attest_rows *rows, attest_traits *traits, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t l = 0; l < gate->library_count; l++)
        ATTEST_TRY(classify_library(rows, traits, gate, gate->libraries[l], err));
out:
    return status;
}

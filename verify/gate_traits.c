/* gate_traits.c - the classifier over the kernels of an audit: table, file, exit code. */
#include <stdio.h>
#include <string.h>

#include "verify/classify.h"
#include "verify/gate.h"
#include "verify/runner.h"

static attest_status classify_library(attest_traits *traits, const attest_gate *gate, const char *library,
                                      attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_subject subject = { .library = library };
    char name[512];
    ATTEST_TRY(attest_worker_start(&subject.worker, library, gate->cli->timeout, err));
    for (; subject.index < attest_worker_kernel_count(subject.worker); subject.index++) {
        if (!attest_kernel_wanted(gate, attest_worker_kernel(subject.worker, subject.index)))
            continue;
        attest_subject_name(name, sizeof name, &subject);
        ATTEST_TRY(attest_classify(traits, subject.worker, subject.index, name, gate->cli->timeout, err));
    }
out:
    attest_worker_free(subject.worker);
    return status;
}

static void tell(const attest_cli *cli, const attest_traits *traits)
{
    if (cli->format && strcmp(cli->format, "json") == 0)
        for (size_t n = 0; n < traits->count; n++)
            attest_trait_print_json(stdout, &traits->trait[n]);
    else if (!cli->quiet)
        attest_traits_print(stdout, traits);
}

attest_status attest_gate_traits(int *code, const attest_gate *gate, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_traits traits = { 0 };
    attest_exit all = { 0 };
    char path[4096];
    for (size_t l = 0; l < gate->library_count; l++)
        ATTEST_TRY(classify_library(&traits, gate, gate->libraries[l], err));
    if (gate->cli->out) {
        if (snprintf(path, sizeof path, "%s/traits.jsonl", gate->cli->out) >= (int)sizeof path)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: the path is too long", gate->cli->out));
        ATTEST_TRY(attest_traits_write_jsonl(&traits, path, err));
    }
    tell(gate->cli, &traits);
    attest_exit_add(&all, *code);
    for (size_t n = 0; n < traits.count; n++)
        if (traits.trait[n].verdict == ATTEST_TRAIT_FAIL)
            attest_exit_add(&all, 1);
    *code = attest_exit_code(&all);
out:
    attest_traits_clear(&traits);
    return status;
}

/* trust.c - see trust.h. */
#include "verify/gate/trust.h"

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <stdio.h>
#include <string.h>

#include "reference/reference.h"
#include "reports/report.h"
#include "verify/base/base.h"
#include "verify/worker/worker.h"

static attest_status add_base(attest_facts *facts, const char *name, const char *text, attest_error *err)
{
    return attest_facts_add(facts, "base", name, text, "", err);
}

static attest_status add_libraries(attest_facts *facts, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_library_version list[ATTEST_LIBRARIES_MAX];
    const size_t count = attest_reference_libraries(list, ATTEST_LIBRARIES_MAX);
    char text[192];
    for (size_t k = 0; k < count; k++) {
        const int same = strcmp(list[k].loaded, list[k].compiled) == 0;
        snprintf(text, sizeof text, "%s%s%s%s", list[k].loaded, same ? "" : " (compiled with the header of ",
                 same ? "" : list[k].compiled, same ? "" : ")");
        ATTEST_TRY(add_base(facts, list[k].name, text, err));
    }
#ifdef __GLIBC__
    snprintf(text, sizeof text, "glibc %s (the kernels' exp and log; the reference calls nothing of math.h)",
             gnu_get_libc_version());
    ATTEST_TRY(add_base(facts, "C library", text, err));
#endif
out:
    return status;
}

attest_status attest_trust_collect(attest_facts *facts, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_error none;
    char machine[512], sandbox[200];
    ATTEST_TRY(add_base(facts, "attest", ATTEST_VERSION, err));
    ATTEST_TRY(add_base(facts, "compiler of the reference", attest_reference_compiler(), err));
    ATTEST_TRY(add_libraries(facts, err));
    attest_machine_name(machine, sizeof machine);
    ATTEST_TRY(add_base(facts, "processor", machine, err));
    const attest_status started = attest_worker_sandbox(sandbox, sizeof sandbox, &none);
    if (started == ATTEST_OK)
        ATTEST_TRY(add_base(facts, "sandbox of the kernels", sandbox, err));
    else if (started == ATTEST_NO_MEMORY)
        ATTEST_TRY(attest_fail(err, started, "%s", none.text));
    for (size_t k = 0; k < attest_lemma_count; k++) {
        const attest_lemma *l = &attest_lemmas[k];
        const int cited = *l->source != '\0';
        ATTEST_TRY(attest_facts_add(facts, cited ? "cited" : "proved", l->name, l->statement,
                                    cited ? l->source : l->section, err));
    }
out:
    return status;
}

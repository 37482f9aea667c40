/* facts.c - trust.json: what the verdicts of a run rest on. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "reports/report.h"

static int take(const uint8_t *data, size_t size)
{
    attest_facts facts = { 0 };
    attest_error err;
    const attest_status status = attest_facts_read(&facts, fuzz_file(data, size), &err);
    for (size_t i = 0; i < facts.count; i++)
        FUZZ_CHECK(fuzz_is_clean(facts.fact[i].kind) && fuzz_is_clean(facts.fact[i].name) &&
                   fuzz_is_clean(facts.fact[i].text) && fuzz_is_clean(facts.fact[i].source));
    attest_facts_clear(&facts);
    return status == ATTEST_OK ? 1 : fuzz_refused(status, &err);
}

extern const fuzz_reader fuzz_facts;
const fuzz_reader fuzz_facts = { "facts", take, NULL };

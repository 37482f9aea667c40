/* traits.c - traits.jsonl: a kernel's arithmetic as declared and as inferred. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"

static int take(const uint8_t *data, size_t size)
{
    attest_traits traits = { 0 }, again = { 0 };
    attest_error err;
    char *text = NULL;
    size_t length;
    attest_status status = attest_traits_read_jsonl(&traits, fuzz_file(data, size), &err);
    if (status != ATTEST_OK) {
        attest_traits_clear(&traits);
        return fuzz_refused(status, &err);
    }
    FILE *out = open_memstream(&text, &length);
    FUZZ_CHECK(out);
    for (size_t i = 0; i < traits.count; i++)
        FUZZ_CHECK(fuzz_is_clean(traits.trait[i].kernel) && fuzz_is_clean(traits.trait[i].why));
    for (size_t i = 0; i < traits.count; i++)
        FUZZ_CHECK(attest_trait_print_json(out, &traits.trait[i]) == ATTEST_OK);
    FUZZ_CHECK(fclose(out) == 0);
    FUZZ_CHECK(attest_traits_read_jsonl(&again, fuzz_file((const uint8_t *)text, length), &err) == ATTEST_OK);
    FUZZ_CHECK(again.count == traits.count);
    free(text);
    out = open_memstream(&text, &length);
    FUZZ_CHECK(out && attest_traits_print(out, &traits, &err) == ATTEST_OK && fflush(out) == 0);
    const size_t page = length;
    FUZZ_CHECK(attest_traits_print_html(out, &traits, &err) == ATTEST_OK && fclose(out) == 0);
    FUZZ_CHECK(!strcasestr(text + page, "<script"));
    free(text);
    attest_traits_clear(&traits);
    attest_traits_clear(&again);
    return 1;
}

extern const fuzz_reader fuzz_traits;
const fuzz_reader fuzz_traits = { "traits", take, NULL };

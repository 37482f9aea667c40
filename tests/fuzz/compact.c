/* compact.c - compact.json: what a run of which few results are kept counted. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/compact/compact.h"

/* What is written, as a text. */
static char *written(const attest_compact *compact)
{
    static char path[] = "/tmp/fuzz-compact-000000000000";
    static char text[1 << 20];
    attest_error err;
    snprintf(path, sizeof path, "/tmp/fuzz-compact-%ld", (long)getpid());
    FUZZ_CHECK(attest_compact_write(compact, path, &err) == ATTEST_OK);
    FILE *in = fopen(path, "rb");
    FUZZ_CHECK(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    unlink(path);
    return text;
}

static int take(const uint8_t *data, size_t size)
{
    attest_compact *compact, *again;
    attest_whole whole = { 0 };
    attest_error err;
    const attest_status status = attest_compact_read(&compact, fuzz_file(data, size), &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    char *text = strdup(written(compact));
    FUZZ_CHECK(text);
    FUZZ_CHECK(attest_compact_read(&again, fuzz_file((const uint8_t *)text, strlen(text)), &err) == ATTEST_OK);
    FUZZ_CHECK(strcmp(text, written(again)) == 0);
    FUZZ_CHECK(attest_compact_add(again, compact, &err) == ATTEST_OK);
    FUZZ_CHECK(attest_compact_total(again) == 2 * attest_compact_total(compact));
    attest_compact_no_evidence(again);
    FUZZ_CHECK(attest_compact_whole(&whole, again, &err) == ATTEST_OK);
    attest_whole_clear(&whole);
    attest_compact_free(again);
    attest_compact_free(compact);
    free(text);
    return 1;
}

extern const fuzz_reader fuzz_compact;
const fuzz_reader fuzz_compact = { "compact", take, NULL };

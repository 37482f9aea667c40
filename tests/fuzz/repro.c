/* repro.c - repro ids, as a word and in a file.  Every second input gets the CRC that makes it whole, so that what lies
 * behind the CRC is reached. */
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "props/shrink/shrink.h"
#include "verify/properties/properties.h"

/* CRC-32/ISO-HDLC, as repro.h says. */
static uint32_t crc_of(const char *text)
{
    uint32_t crc = UINT32_MAX;
    for (; *text; text++) {
        crc ^= (unsigned char)*text;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static int take_id(const char *text)
{
    attest_repro repro, again;
    attest_error err;
    char *printed;
    const attest_status status = attest_repro_parse(&repro, text, &err);
    if (status != ATTEST_OK) {
        FUZZ_CHECK(repro.example.inputs == NULL);
        return fuzz_refused(status, &err);
    }
    FUZZ_CHECK(attest_repro_print(&printed, &repro, &err) == ATTEST_OK);
    if (printed) {
        FUZZ_CHECK(attest_repro_parse(&again, printed, &err) == ATTEST_OK);
        FUZZ_CHECK(strcmp(again.kernel, repro.kernel) == 0 && strcmp(again.property, repro.property) == 0);
        attest_repro_clear(&again);
    }
    free(printed);
    attest_repro_clear(&repro);
    return 1;
}

/* An id whose problem fits a small machine: the draws of a large one only take time. */
static int is_small(const char *text)
{
    attest_error err;
    attest_case c;
    char line[ATTEST_LINE];
    uint64_t bytes;
    const char *part = text;
    for (int k = 0; k < 4 && part; k++)
        part = strchr(part, ':') ? strchr(part, ':') + 1 : NULL;
    if (!part)
        return 1;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(part, ":"), part);
    for (char *at = line; *at; at++)
        *at = *at == ',' ? ' ' : *at;
    for (char *at = line; (at = strchr(at, '%')) && at[1] && at[2];) {
        const char code[3] = { at[1], at[2], 0 };
        *at++ = (char)strtol(code, NULL, 16);
        memmove(at, at + 2, strlen(at + 2) + 1);
    }
    int lowest, highest;
    return attest_case_parse(&c, line, NULL, NULL, &err) != ATTEST_OK ||
           (strncmp(c.family, "trace", 5) != 0 && attest_problem_memory(&c.problem, &bytes, &err) == ATTEST_OK &&
            bytes < 1 << 14 && (!attest_variant_degrees(c.problem.axis, &lowest, &highest) || highest < 4));
}

static int take(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 8192)
        return 0;
    const int whole = data[0] % 2;
    char *text = fuzz_text(data + 1, size - 1), *id = malloc(size + 16);
    FUZZ_CHECK(id);
    snprintf(id, size + 16, "%s", text);
    if (whole)
        snprintf(id + strlen(id), 16, ":%08" PRIx32, crc_of(text));
    const int taken = is_small(id) && take_id(id);
    char *found = attest_repro_of_file(fuzz_file(data + 1, size - 1));
    FUZZ_CHECK(!found || (attest_is_token(found) && strlen(found) < size));
    free(found);
    free(id);
    free(text);
    return taken;
}

extern const fuzz_reader fuzz_repro;
const fuzz_reader fuzz_repro = { "repro", take, NULL };

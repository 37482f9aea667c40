/* results.c - results.jsonl, changed by bytes and by its table of fields. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/report.h"

/* What was read is written and read again: the same bytes. */
static void check_again(const attest_result *result)
{
    attest_result again;
    attest_error err;
    char *text[2] = { NULL, NULL };
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        FILE *out = open_memstream(&text[k], &size[k]);
        FUZZ_CHECK(out && attest_result_print_json(out, k ? &again : result) == ATTEST_OK && fclose(out) == 0);
        if (k == 0 && attest_result_parse_json(&again, text[0], "again", &err) != ATTEST_OK)
            fuzz_fail(err.text, __FILE__, __LINE__);
    }
    FUZZ_CHECK(strcmp(text[0], text[1]) == 0);
    free(text[0]);
    free(text[1]);
}

static int take(const uint8_t *data, size_t size)
{
    attest_results results;
    attest_result result;
    attest_error err;
    int taken = 0;
    attest_status status = attest_results_open(&results, fuzz_file(data, size), &err);
    if (status != ATTEST_OK)
        return fuzz_refused(status, &err);
    for (size_t i = 0; i < results.count; i++) {
        status = attest_results_get(&result, &results, i, &err);
        if (status != ATTEST_OK) {
            fuzz_refused(status, &err);
            continue;
        }
        taken++;
        check_again(&result);
        attest_result_exit(&result, 1);
        attest_result_rank(&result);
    }
    attest_results_clear(&results);
    return taken > 0;
}

/* ---- structure -------------------------------------------------------------------------------------------------- */
/* A line that the reader takes. */
static char *whole_line(unsigned *seed, size_t *size)
{
    attest_result result;
    char *text = NULL;
    attest_result_init(&result);
    result.verdict = fuzz_random(seed) % ATTEST_VERDICT_COUNT;
    result.reasons = fuzz_random(seed) & ((1 << ATTEST_REASON_COUNT) - 1);
    result.ratio_hi = fuzz_random(seed) / 1000.0;
    snprintf(result.kernel, sizeof result.kernel, "%s", fuzz_random(seed) % 2 ? "softmax-online-f32" : "x.so:y");
    snprintf(result.problem, sizeof result.problem, "variant=softmax n=%u", fuzz_random(seed) % 100);
    FILE *out = open_memstream(&text, size);
    FUZZ_CHECK(out && attest_result_print_json(out, &result) == ATTEST_OK && fclose(out) == 0);
    return text;
}

/* The value behind `"NAME":`, from `at` on, ends at the next comma or brace that is in no string and no object. */
static size_t end_of_value(const char *text, size_t at, size_t size)
{
    int depth = 0, quoted = 0;
    for (; at < size && text[at] != '\n'; at++) {
        if (quoted && text[at] == '\\')
            at++;
        else if (text[at] == '"')
            quoted = !quoted;
        else if (!quoted && (text[at] == '{' || text[at] == '['))
            depth++;
        else if (!quoted && depth > 0 && (text[at] == '}' || text[at] == ']'))
            depth--;
        else if (!quoted && depth == 0 && (text[at] == ',' || text[at] == '}'))
            break;
    }
    return at < size ? at : size;
}

static const char *const values[] = { "null",
                                      "0",
                                      "-1",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "1e999",
                                      "\"\"",
                                      "[]",
                                      "{}",
                                      "true",
                                      "1.5",
                                      "{\"hex\":\"0x1.8p+1\",\"dec\":3}",
                                      "{\"hex\":\"nan\"}",
                                      "{\"hex\":\"-inf\"}",
                                      "{\"hex\":\"\"}",
                                      "{\"hex\":7}",
                                      "{\"hex\":\"0x1p-1074\"}",
                                      "{\"hex\":\"0x1p5000\"}",
                                      "\"bound,lse\"",
                                      "\"bound,\"",
                                      "\"property layout\"",
                                      "\"pass\"",
                                      "\"fail\"",
                                      "\"skip\"",
                                      "\"crash\"",
                                      "\"no-evidence\"",
                                      "\"<script>\"",
                                      "\"\\u001b[2J\"",
                                      "\"=cmd\"",
                                      "\"\\ud83d\\ude00\"",
                                      "\"\\ud83d\"",
                                      "\"\\u0000\"",
                                      "\"variant=taylor:3 n=4\"",
                                      "\"]]>\"",
                                      "\"|`*\"",
                                      "2",
                                      "1",
                                      "77",
                                      "[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
                                      "\"0123456789012345678901234567890123456789012345678901234567890123\"" };
#define VALUES (sizeof values / sizeof values[0])

/* Puts `text` in place of data[from, to). */
static size_t replace(uint8_t *data, size_t size, size_t most, size_t from, size_t to, const char *text)
{
    const size_t length = strlen(text);
    if (size - (to - from) + length > most)
        return size;
    memmove(data + from + length, data + to, size - to);
    memcpy(data + from, text, length);
    return size - (to - from) + length;
}

/* Another value for one field of one line; the field left out; or twice. */
static size_t change_field(uint8_t *data, size_t size, size_t most, unsigned *seed)
{
    char name[64];
    const char *field = attest_result_fields[fuzz_random(seed) % attest_result_field_count].name;
    const size_t length = (size_t)snprintf(name, sizeof name, "\"%s\":", field), skip = fuzz_random(seed) % (size + 1);
    for (int round = 0; round < 2; round++) {
        const uint8_t *from = data + (round ? 0 : skip);
        const uint8_t *found = size >= length ? memmem(from, size - (size_t)(from - data), name, length) : NULL;
        if (!found)
            continue;
        const size_t at = (size_t)(found - data), value = at + length;
        const size_t end = end_of_value((const char *)data, value, size);
        const unsigned kind = fuzz_random(seed) % 10;
        if (kind == 0)
            return replace(data, size, most, at, end < size && data[end] == ',' ? end + 1 : end, "");
        if (kind == 1)
            return replace(data, size, most, at, at, "\"tool\":\"x\",");
        return replace(data, size, most, value, end, values[fuzz_random(seed) % VALUES]);
    }
    return size;
}

size_t fuzz_results_mutate(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (size > 64 && fuzz_random(&seed) % 8 != 0)
        return change_field(data, size, most, &seed);
    size_t length;
    char *line = whole_line(&seed, &length);
    const size_t changed = replace(data, size, most, 0, fuzz_random(&seed) % 2 ? size : 0, line);
    free(line);
    return changed;
}

extern const fuzz_reader fuzz_results;
const fuzz_reader fuzz_results = { "results", take, fuzz_results_mutate };

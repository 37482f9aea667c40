/* suite.c - suite files, changed by bytes and by their grammar: lines of settings, lists, rules, floors. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <string.h>

#include "verify/suite/suite.h"

static int take(const uint8_t *data, size_t size)
{
    static const char *const lines[] = { "n=1", "variant=softmax n=2 d=4 in=bf16", "variant=taylor:2 mask=causal n=3" };
    attest_suite suite;
    attest_error err;
    attest_case c;
    if (size > 4096)
        return 0;
    const attest_status status = attest_suite_read(&suite, fuzz_file(data, size), &err);
    if (status != ATTEST_OK) {
        FUZZ_CHECK(suite.skips == NULL && suite.case_count == 0);
        return fuzz_refused(status, &err);
    }
    FUZZ_CHECK(suite.case_count > 0);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        FUZZ_CHECK(attest_case_parse(&c, lines[i], NULL, NULL, &err) == ATTEST_OK);
        attest_suite_skip(&suite, "softmax-online-f32", &c);
        attest_suite_allow(&suite, "softmax-online-f32", &c, 31);
    }
    attest_suite_clear(&suite);
    return 1;
}

/* ---- grammar ---------------------------------------------------------------------------------------------------- */
typedef struct writer {
    char text[1024];
    size_t used;
    unsigned seed;
} writer;

static unsigned pick(writer *w, unsigned count) { return fuzz_random(&w->seed) % count; }

static void put(writer *w, const char *text)
{
    const size_t length = strlen(text);
    if (w->used + length < sizeof w->text) {
        memcpy(w->text + w->used, text, length + 1);
        w->used += length;
    }
}

static void put_number(writer *w)
{
    static const char *const odd[] = { "0", "-1", "16777216", "1e308", "0x1p-1074", "nan", "18446744073709551616", "" };
    char text[16];
    snprintf(text, sizeof text, "%u", 1 + pick(w, 40));
    put(w, pick(w, 8) == 0 ? odd[pick(w, 8)] : text);
}

static void put_value(writer *w, uint32_t axis)
{
    const attest_axis_info *info = &attest_axes[axis];
    const attest_axis_value *value = &info->values[pick(w, info->value_count)];
    put(w, value->name ? value->name : "");
    if (value->argument != ATTEST_ARG_NONE) {
        put(w, value->name ? ":" : "");
        put_number(w);
    }
}

static void put_setting(writer *w)
{
    static const char *const numbers[] = { "b", "hq", "hkv", "n", "m", "d", "e", "scale", "seed", "chunk", "splits" };
    static const char *const others[] = { "in={f32,bf16}", "in=f64",        "acc=f64", "out=f16", "family=range:8",
                                          "family=flat",   "family=normal", "p=bf16",  "in=f16",  "family=edges" };
    const unsigned kind = pick(w, 4);
    const uint32_t axis = pick(w, ATTEST_AXIS_COUNT);
    if (kind == 0) {
        put(w, others[pick(w, 10)]);
    } else if (kind == 1) {
        put(w, "variant=");
        const attest_preset *preset = &attest_presets[pick(w, (unsigned)attest_preset_count)];
        put(w, preset->name);
        put(w, preset->argument == ATTEST_ARG_NONE ? "" : ":");
        if (preset->argument != ATTEST_ARG_NONE)
            put_number(w);
    } else {
        put(w, kind == 2 ? numbers[pick(w, 11)] : attest_axes[axis].key);
        put(w, "=");
        const int list = pick(w, 3) == 0;
        put(w, list ? "{" : "");
        for (unsigned k = list ? 1 + pick(w, 3) : 1; k > 0; k--) {
            if (kind == 2)
                put_number(w);
            else
                put_value(w, attest_axes[axis].axis);
            put(w, list ? k > 1 ? "," : "}" : "");
        }
    }
    put(w, pick(w, 30) == 0 ? "" : " ");
}

static void put_line(writer *w)
{
    static const char *const begin[] = { "",
                                         "",
                                         "",
                                         "",
                                         "!skip softmax-* ",
                                         "!allow partial * ",
                                         "# ",
                                         "!floor 1 ",
                                         "!floor ",
                                         "!include ",
                                         "!allow partial absent,blind * ",
                                         "!skip " };
    static const char *const names[] = { "smoke", "pairs ", "smoke\r", "none" };
    const unsigned kind = pick(w, 12);
    put(w, begin[kind]);
    if (kind == 9)
        put(w, names[pick(w, 100) < 4 ? 0 : 3]);
    for (unsigned k = pick(w, 5); k > 0; k--)
        put_setting(w);
    if (begin[kind][0] == '!' && kind != 7 && pick(w, 10) > 0)
        put(w, " : for a reason");
    put(w, pick(w, 50) == 0 ? "" : "\n");
}

/* Puts a line of the grammar in, in place of one of the text or before it. */
static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    writer w = { .seed = seed };
    put_line(&w);
    const size_t at = size ? pick(&w, (unsigned)size + 1) : 0;
    size_t start = at, end = at;
    while (start > 0 && data[start - 1] != '\n')
        start--;
    while (pick(&w, 2) && end < size && data[end++] != '\n')
        ;
    if (end < start || end == at)
        end = start;
    else
        while (end < size && data[end - 1] != '\n')
            end++;
    const size_t tail = size - end;
    if (start + w.used + tail > most)
        return size;
    memmove(data + start + w.used, data + end, tail);
    memcpy(data + start, w.text, w.used);
    return start + w.used + tail;
}

extern const fuzz_reader fuzz_suite;
const fuzz_reader fuzz_suite = { "suite", take, mutate };

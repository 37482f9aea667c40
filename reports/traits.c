/* traits.c - see traits.h. */
#include "reports/traits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/input.h"
#include "kernels/text.h"
#include "reports/files/json.h"
#include "reports/files/output.h"
#include "reports/table.h"

const char *const attest_trait_verdict_names[ATTEST_TRAIT_VERDICT_COUNT] = { "agrees",     "finding",     "FAIL",
                                                                             "undeclared", "not visible", "remark" };

/* The texts of a row, in the order of files and tables; the verdict stands between inferred and why. */
static const struct {
    const char *name;
    size_t offset, size;
} texts[] = {
    { "kernel", offsetof(attest_trait, kernel), sizeof((attest_trait *)0)->kernel },
    { "trait", offsetof(attest_trait, trait), sizeof((attest_trait *)0)->trait },
    { "declared", offsetof(attest_trait, declared), sizeof((attest_trait *)0)->declared },
    { "inferred", offsetof(attest_trait, inferred), sizeof((attest_trait *)0)->inferred },
    { "why", offsetof(attest_trait, why), sizeof((attest_trait *)0)->why },
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

attest_status attest_traits_add(attest_traits *traits, const attest_trait *trait, attest_error *err)
{
    if (traits->count == traits->capacity) {
        const size_t capacity = traits->capacity ? 2 * traits->capacity : 64;
        attest_trait *grown = realloc(traits->trait, capacity * sizeof *grown);
        if (!grown)
            return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu traits", capacity);
        traits->trait = grown;
        traits->capacity = capacity;
    }
    traits->trait[traits->count++] = *trait;
    return ATTEST_OK;
}

void attest_traits_clear(attest_traits *traits)
{
    free(traits->trait);
    *traits = (attest_traits){ 0 };
}

static const char *verdict_name(const attest_trait *t)
{
    return attest_trait_verdict_names[t->verdict < ATTEST_TRAIT_VERDICT_COUNT ? t->verdict : ATTEST_TRAIT_HIDDEN];
}

attest_status attest_traits_print(FILE *out, const attest_traits *traits, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "trait", .width = 17, .gap = 2 },
        { .head = "declared", .width = 16 },
        { .head = "inferred", .width = 16 },
        { .head = "verdict" },
    };
    attest_status status = ATTEST_OK;
    attest_table table = { .out = NULL };
    for (size_t n = 0; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        if (n == 0 || strcmp(t->kernel, t[-1].kernel) != 0) {
            if (n > 0)
                ATTEST_TRY(attest_table_end(&table, err));
            fprintf(out, "\n%s\n", t->kernel);
            attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, columns, sizeof columns / sizeof columns[0]);
        }
        attest_table_cell(&table, "%s", t->trait);
        attest_table_cell(&table, "%s", t->declared);
        attest_table_cell(&table, "%s", t->inferred);
        attest_table_cell(&table, "%s%s%s", verdict_name(t), *t->why ? ": " : "", t->why);
    }
    if (traits->count > 0) {
        status = attest_table_end(&table, err);
        fputs(
            "  acc: the accumulator; p: the weights as they meet v; lse: log of the sum of weights;\n  ftz: subnormal "
            "numbers count as 0; 2^-24: relative to 1; -: nothing said, or seen\n",
            out);
    }
out:
    return status;
}

attest_status attest_trait_print_json(FILE *out, const attest_trait *trait)
{
    json_t *object = json_object();
    for (int n = 0; n < TEXTS; n++) {
        if (n == TEXTS - 1)
            json_object_set_new(object, "verdict", json_string(verdict_name(trait)));
        json_object_set_new(object, texts[n].name, attest_json_text((const char *)trait + texts[n].offset));
    }
    return attest_json_line(out, object);
}

attest_status attest_traits_write_jsonl(const attest_traits *traits, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_output_open(&out, path, err));
    for (size_t n = 0; n < traits->count && status == ATTEST_OK; n++)
        status = attest_trait_print_json(out.file, &traits->trait[n]);
    if (status != ATTEST_OK)
        status = attest_print_failed(err, path);
out:
    return attest_output_close(&out, status, err);
}

/* 0: a text is missing or longer than it can be, or the verdict is none. */
static int read_object(attest_trait *t, const json_t *object)
{
    const char *verdict = json_string_value(json_object_get(object, "verdict"));
    *t = (attest_trait){ .verdict = ATTEST_TRAIT_VERDICT_COUNT };
    for (int n = 0; n < TEXTS; n++) {
        const char *text = json_string_value(json_object_get(object, texts[n].name));
        if (!text || strlen(text) >= texts[n].size)
            return 0;
        attest_text_clean((char *)t + texts[n].offset, texts[n].size, text);
    }
    for (uint32_t v = 0; verdict && v < ATTEST_TRAIT_VERDICT_COUNT; v++)
        if (strcmp(verdict, attest_trait_verdict_names[v]) == 0)
            t->verdict = v;
    return t->verdict < ATTEST_TRAIT_VERDICT_COUNT;
}

attest_status attest_traits_read_jsonl(attest_traits *traits, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char *line = NULL;
    size_t size = 0, number = 0;
    FILE *in;
    if ((status = attest_input_stream(&in, NULL, path, err)) != ATTEST_OK)
        return status;
    while (getline(&line, &size, in) > 0) {
        attest_trait t;
        json_t *object = json_loads(line, 0, NULL);
        const int good = read_object(&t, object);
        json_decref(object);
        number++;
        if (attest_starved())
            ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "%s:%zu: no memory to read it", path, number));
        if (!good)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: no trait (`attest audit --out` writes them)", path,
                                   number));
        ATTEST_TRY(attest_traits_add(traits, &t, err));
    }
    status = attest_input_ended(in, path, err);
out:
    free(line);
    fclose(in);
    return status;
}

attest_status attest_traits_print_html(FILE *out, const attest_traits *traits, attest_error *err)
{
    static const char *const classes[] = { "pass", "undecided", "fail", "zero", "zero", "undecided" };
    static const attest_column columns[] = {
        { .head = "kernel", .flags = ATTEST_COLUMN_CODE, .class = "k" },
        { .head = "trait" },
        { .head = "declared" },
        { .head = "inferred" },
        { .head = "verdict" },
        { .head = "why" },
    };
    attest_table table;
    if (traits->count == 0)
        return ATTEST_OK;
    fprintf(out,
            "<h2>Arithmetic, declared and inferred</h2>\n<p>Inferred from the kernel's answers to designed inputs, "
            "without its declaration. Declared tighter than two different probes infer fails, than one alone is a "
            "remark; looser by more than 4 times is a finding.</p>\n");
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, sizeof columns / sizeof columns[0]);
    for (size_t n = 0; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        attest_table_cell(&table, "%s", t->kernel);
        attest_table_cell(&table, "%s", t->trait);
        attest_table_cell(&table, "%s", t->declared);
        attest_table_cell(&table, "%s", t->inferred);
        attest_table_mark(&table, (attest_mark){ classes[t->verdict], NULL });
        attest_table_cell(&table, "%s", verdict_name(t));
        attest_table_cell(&table, "%s", t->why);
    }
    return attest_table_end(&table, err);
}

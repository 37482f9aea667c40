/* trust.c - the facts that verdicts rest on: list, file, and how they are told. */
#include "reports/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/text.h"
#include "reports/files/json_file.h"
#include "reports/overview.h"

static const char *const keys[] = { "kind", "name", "text", "source" };
#define KEYS (sizeof keys / sizeof keys[0])
#define TEXT_MOST 4096 /* of a text that is read; a longer one is cut */

/* The fact's string that keys[k] names. */
static char **string_of(attest_fact *fact, size_t k)
{
    char **const all[KEYS] = { &fact->kind, &fact->name, &fact->text, &fact->source };
    return all[k];
}

static void fact_clear(attest_fact *fact)
{
    for (size_t k = 0; k < KEYS; k++)
        free(*string_of(fact, k));
}

attest_status attest_facts_add(attest_facts *facts, const char *kind, const char *name, const char *text,
                               const char *source, attest_error *err)
{
    attest_fact fact = { strdup(kind), strdup(name), strdup(text), strdup(source) };
    if (facts->count == facts->capacity) {
        const size_t capacity = facts->capacity ? 2 * facts->capacity : 64;
        attest_fact *grown = realloc(facts->fact, capacity * sizeof *grown);
        facts->fact = grown ? grown : facts->fact;
        facts->capacity = grown ? capacity : facts->capacity;
    }
    if (facts->count == facts->capacity || !fact.kind || !fact.name || !fact.text || !fact.source) {
        fact_clear(&fact);
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu facts", facts->count + 1);
    }
    facts->fact[facts->count++] = fact;
    return ATTEST_OK;
}

void attest_facts_clear(attest_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        fact_clear(&facts->fact[i]);
    free(facts->fact);
    *facts = (attest_facts){ NULL, 0, 0 };
}

attest_status attest_facts_write(const attest_facts *facts, const char *path, attest_error *err)
{
    attest_output out;
    attest_status status = attest_output_open(&out, path, err);
    json_t *array = json_array();
    for (size_t i = 0; status == ATTEST_OK && i < facts->count; i++) {
        json_t *object = json_object();
        for (size_t k = 0; k < KEYS; k++)
            json_object_set_new(object, keys[k], attest_json_text(*string_of(&facts->fact[i], k)));
        json_array_append_new(array, object);
    }
    if (status != ATTEST_OK)
        json_decref(array);
    else if (attest_json_pretty(out.file, array) != ATTEST_OK)
        status = attest_print_failed(err, path);
    return attest_output_close(&out, status, err);
}

attest_status attest_facts_read(attest_facts *facts, const char *path, attest_error *err)
{
    json_t *array;
    attest_status status = attest_json_read(&array, path, err);
    if (status == ATTEST_OK && !json_is_array(array))
        status = attest_fail(err, ATTEST_BAD_INPUT, "%s: not a JSON array", path);
    if (status != ATTEST_OK)
        goto out;
    for (size_t i = 0; i < json_array_size(array); i++) {
        char text[KEYS][TEXT_MOST];
        for (size_t k = 0; k < KEYS; k++) {
            const char *given = json_string_value(json_object_get(json_array_get(array, i), keys[k]));
            if (given)
                attest_text_clean(text[k], sizeof text[k], given);
            else
                ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: entry %zu: '%s' is missing or no string", path,
                                       i + 1, keys[k]));
        }
        ATTEST_TRY(attest_facts_add(facts, text[0], text[1], text[2], text[3], err));
    }
out:
    json_decref(array);
    return status;
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */
static size_t count_of(const attest_facts *facts, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        count += strcmp(facts->fact[i].kind, kind) == 0;
    return count;
}

/* What it all was made with, and how each library of kernels was built. */
static attest_status print_base(FILE *out, const attest_facts *facts, const attest_overview *o, int html,
                                attest_error *err)
{
    static const attest_column columns[] = { { .head = "made with" }, { .head = "which" } };
    attest_table table;
    if (html)
        attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, 2);
    for (size_t i = 0; i < facts->count + o->builds; i++) {
        const attest_fact *f = i < facts->count ? &facts->fact[i] : NULL;
        const char *name = f ? f->name : "kernels", *text = f ? f->text : o->build[i - facts->count];
        if (f && strcmp(f->kind, "base") != 0)
            continue;
        if (!html) {
            fputs("- ", out);
            attest_print_markdown(out, name);
            fputs(": ", out);
            attest_print_markdown(out, text);
            fputc('\n', out);
            continue;
        }
        attest_table_cell(&table, "%s", name);
        attest_table_cell(&table, "%s", text);
    }
    return html ? attest_table_end(&table, err) : ATTEST_OK;
}

static attest_status print_html(FILE *out, const attest_facts *facts, const char *kind, const char *title,
                                const char *last, attest_error *err)
{
    const attest_column columns[] = { { .head = "name" },
                                      { .head = "statement", .flags = ATTEST_COLUMN_NOTED },
                                      { .head = last, .flags = ATTEST_COLUMN_NOTED } };
    attest_table table;
    fprintf(out, "<details><summary>%s (%zu)</summary>", title, count_of(facts, kind));
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, columns, 3);
    for (size_t i = 0; i < facts->count; i++) {
        const attest_fact *f = &facts->fact[i];
        if (strcmp(f->kind, kind) != 0)
            continue;
        attest_table_cell(&table, "%s", f->name);
        attest_table_cell(&table, "%s", f->text);
        attest_table_cell(&table, "%s", f->source);
    }
    const attest_status status = attest_table_end(&table, err);
    fputs("</details>\n", out);
    return status;
}

static void print_markdown(FILE *out, const attest_facts *facts, const char *kind, const char *title)
{
    const char *before = " ";
    fprintf(out, "- %s (%zu):", title, count_of(facts, kind));
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].kind, kind) == 0) {
            fputs(before, out);
            attest_print_markdown(out, facts->fact[i].name);
            before = ", ";
        }
    fprintf(out, "\n");
}

attest_status attest_facts_print(FILE *out, const attest_facts *facts, const attest_overview *overview, int html,
                                 attest_error *err)
{
    static const char *const titles[] = { "Lemmas proved in reference/derivations.md", "Cited, not proved again here" };
    attest_status status = ATTEST_OK;
    if (facts->count == 0)
        return ATTEST_OK;
    fputs(html ? "<h2>What the verdicts rest on</h2>\n" : "\n## What the verdicts rest on\n\n", out);
    ATTEST_TRY(print_base(out, facts, overview, html, err));
    if (html) {
        ATTEST_TRY(print_html(out, facts, "proved", titles[0], "section", err));
        ATTEST_TRY(print_html(out, facts, "cited", titles[1], "source", err));
    } else {
        print_markdown(out, facts, "proved", titles[0]);
        print_markdown(out, facts, "cited", titles[1]);
    }
out:
    return status;
}

/* trust.c - the facts that verdicts rest on: list, file, and how they are told. */
#include "reports/trust.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

static const char *const keys[] = { "kind", "name", "text", "source" };
#define KEYS (sizeof keys / sizeof keys[0])

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
            json_object_set_new(object, keys[k], json_string(*string_of(&facts->fact[i], k)));
        json_array_append_new(array, object);
    }
    if (status == ATTEST_OK && (json_dumpf(array, out.file, JSON_INDENT(1) | JSON_PRESERVE_ORDER) != 0 ||
                                fputc('\n', out.file) == EOF))
        status = attest_fail(err, ATTEST_IO, "%s: write failed", path);
    json_decref(array);
    return attest_output_close(&out, status, err);
}

attest_status attest_facts_read(attest_facts *facts, const char *path, attest_error *err)
{
    attest_status status = ATTEST_OK;
    json_error_t problem;
    json_t *array = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_array(array))
        ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, array ? "not a JSON array" : problem.text));
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text[KEYS];
        for (size_t k = 0; k < KEYS; k++) {
            text[k] = json_string_value(json_object_get(json_array_get(array, i), keys[k]));
            if (!text[k])
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
/* Markdown's `code` as HTML. */
static void print_marked(FILE *out, const char *text)
{
    int code = 0;
    while (*text) {
        char part[4096];
        const size_t len = strcspn(text, "`");
        snprintf(part, sizeof part, "%.*s", (int)len, text);
        attest_print_xml(out, part);
        text += len;
        if (*text) {
            fputs(code ? "</code>" : "<code>", out);
            code = !code;
            text++;
        }
    }
    if (code)
        fputs("</code>", out);
}

static size_t count_of(const attest_facts *facts, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->count; i++)
        count += strcmp(facts->fact[i].kind, kind) == 0;
    return count;
}

static void print_text(FILE *out, const char *text, int html)
{
    if (html)
        attest_print_xml(out, text);
    else
        fputs(text, out);
}

/* How each library of kernels was built, once each. */
static void print_builds(FILE *out, const attest_rows *rows, int html)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *flags = rows->row[i].flags;
        int told = *flags == '\0';
        for (size_t j = 0; j < i && !told; j++)
            told = strcmp(rows->row[j].flags, flags) == 0;
        if (told)
            continue;
        fputs(html ? "<tr><td>kernels<td>" : "- kernels: ", out);
        print_text(out, flags, html);
        fputs(html ? "</tr>\n" : "\n", out);
    }
}

static void print_html(FILE *out, const attest_facts *facts, const char *kind, const char *title, const char *last)
{
    fprintf(out,
            "<details><summary>%s (%zu)</summary><div class=\"wrap\"><table><tr><th>name<th>statement<th>%s</tr>\n",
            title, count_of(facts, kind), last);
    for (size_t i = 0; i < facts->count; i++) {
        const attest_fact *f = &facts->fact[i];
        if (strcmp(f->kind, kind) != 0)
            continue;
        fprintf(out, "<tr><td>");
        attest_print_xml(out, f->name);
        fprintf(out, "</td><td>");
        print_marked(out, f->text);
        fprintf(out, "</td><td>");
        print_marked(out, f->source);
        fprintf(out, "</td></tr>\n");
    }
    fprintf(out, "</table></div></details>\n");
}

static void print_markdown(FILE *out, const attest_facts *facts, const char *kind, const char *title)
{
    const char *before = " ";
    fprintf(out, "- %s (%zu):", title, count_of(facts, kind));
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->fact[i].kind, kind) == 0) {
            fprintf(out, "%s%s", before, facts->fact[i].name);
            before = ", ";
        }
    fprintf(out, "\n");
}

void attest_facts_print(FILE *out, const attest_facts *facts, const attest_rows *rows, int html)
{
    static const char *const titles[] = { "Lemmas proved in reference/derivations.md",
                                          "Cited, not proved again here" };
    if (facts->count == 0)
        return;
    fputs(html ? "<h2>What the verdicts rest on</h2>\n<div class=\"wrap\"><table>\n"
               : "\n## What the verdicts rest on\n\n",
          out);
    for (size_t i = 0; i < facts->count; i++) {
        const attest_fact *f = &facts->fact[i];
        if (strcmp(f->kind, "base") != 0)
            continue;
        fputs(html ? "<tr><td>" : "- ", out);
        print_text(out, f->name, html);
        fputs(html ? "<td>" : ": ", out);
        print_text(out, f->text, html);
        fputs(html ? "</tr>\n" : "\n", out);
    }
    print_builds(out, rows, html);
    if (html) {
        fputs("</table></div>\n", out);
        print_html(out, facts, "proved", titles[0], "section");
        print_html(out, facts, "cited", titles[1], "source");
    } else {
        print_markdown(out, facts, "proved", titles[0]);
        print_markdown(out, facts, "cited", titles[1]);
    }
}

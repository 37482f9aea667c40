/* traits.c - see traits.h. */
#include "reports/traits.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

const char *const attest_trait_verdict_names[ATTEST_TRAIT_VERDICT_COUNT] = { "agrees", "finding", "FAIL", "undeclared",
                                                                             "not visible" };

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

void attest_traits_print(FILE *out, const attest_traits *traits)
{
    for (size_t n = 0; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        if (n == 0 || strcmp(t->kernel, t[-1].kernel) != 0)
            fprintf(out, "\n%s\n  %-17s %-16s %-16s %s\n", t->kernel, "trait", "declared", "inferred", "verdict");
        fprintf(out, "  %-17s %-16s %-16s %s%s%s\n", t->trait, t->declared, t->inferred, verdict_name(t),
                *t->why ? ": " : "", t->why);
    }
}

attest_status attest_trait_print_json(FILE *out, const attest_trait *trait)
{
    json_t *object = json_object();
    int bad = object == NULL;
    for (int n = 0; n < TEXTS && !bad; n++) {
        if (n == TEXTS - 1)
            bad = json_object_set_new(object, "verdict", json_string(verdict_name(trait)));
        bad = bad || json_object_set_new(object, texts[n].name, json_string((const char *)trait + texts[n].offset));
    }
    bad = bad || json_dumpf(object, out, JSON_COMPACT) != 0 || fputc('\n', out) == EOF;
    json_decref(object);
    return bad ? ATTEST_IO : ATTEST_OK;
}

attest_status attest_traits_write_jsonl(const attest_traits *traits, const char *path, attest_error *err)
{
    attest_output out = { .file = NULL };
    attest_status status = ATTEST_OK;
    ATTEST_TRY(attest_output_open(&out, path, err));
    for (size_t n = 0; n < traits->count && status == ATTEST_OK; n++)
        status = attest_trait_print_json(out.file, &traits->trait[n]);
    if (status != ATTEST_OK)
        attest_fail(err, status, "%s: cannot write", path);
out:
    return attest_output_close(&out, status, err);
}

/* 0: a text is missing, or the verdict is none. */
static int read_object(attest_trait *t, const json_t *object)
{
    const char *verdict = json_string_value(json_object_get(object, "verdict"));
    *t = (attest_trait){ .verdict = ATTEST_TRAIT_VERDICT_COUNT };
    for (int n = 0; n < TEXTS; n++) {
        const char *text = json_string_value(json_object_get(object, texts[n].name));
        if (!text)
            return 0;
        snprintf((char *)t + texts[n].offset, texts[n].size, "%s", text);
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
    FILE *in = fopen(path, "r");
    if (!in)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: %s", path, strerror(errno));
    while (getline(&line, &size, in) > 0) {
        attest_trait t;
        json_t *object = json_loads(line, 0, NULL);
        const int good = read_object(&t, object);
        json_decref(object);
        number++;
        if (!good)
            ATTEST_TRY(attest_fail(err, ATTEST_BAD_INPUT, "%s:%zu: no trait (`attest audit --out` writes them)", path,
                                   number));
        ATTEST_TRY(attest_traits_add(traits, &t, err));
    }
out:
    free(line);
    fclose(in);
    return status;
}

static void print_cell(FILE *out, const char *text, int code)
{
    fprintf(out, code ? "<td class=\"k\"><code>" : "<td>");
    attest_print_xml(out, text);
    fprintf(out, code ? "</code></td>" : "</td>");
}

void attest_traits_print_html(FILE *out, const attest_traits *traits)
{
    static const char *const classes[] = { "pass", "undecided", "fail", "zero", "zero" };
    if (traits->count == 0)
        return;
    fprintf(out,
            "<h2>Arithmetic, declared and inferred</h2>\n<p>Inferred from the kernel's answers to designed inputs, "
            "without its declaration. Declared tighter than inferred fails; looser by more than 4 times is a "
            "finding.</p>\n<div class=\"wrap\"><table><tr><th>kernel<th>trait<th>declared<th>inferred<th>verdict"
            "<th>why</tr>\n");
    for (size_t n = 0; n < traits->count; n++) {
        const attest_trait *t = &traits->trait[n];
        fprintf(out, "<tr>");
        print_cell(out, t->kernel, 1);
        print_cell(out, t->trait, 0);
        print_cell(out, t->declared, 0);
        print_cell(out, t->inferred, 0);
        fprintf(out, "<td class=\"%s\">%s</td>", classes[t->verdict], verdict_name(t));
        print_cell(out, t->why, 0);
        fprintf(out, "</tr>\n");
    }
    fprintf(out, "</table></div>\n");
}

/* drawing.c - an SVG file as a part of the page; see drawing.h. */
#include "reports/page/drawing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/input.h"
#include "reports/report.h"

/* Does this text hold a drawing only: elements that draw, no attribute that runs anything, no address elsewhere? */
static int is_drawing(const char *text)
{
    static const char elements[] =
        " svg g defs title desc path rect circle ellipse line polyline polygon text tspan use "
        "symbol clipPath linearGradient stop style filter feFlood feComposite ";
    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        char name[32];
        const char *from = at + 1 + (at[1] == '/');
        const size_t length = strcspn(from, " \t\r\n/>");
        if (strncmp(at, "<!--", 4) == 0 || strncmp(at, "<?xml", 5) == 0 || strncmp(at, "<!DOCTYPE svg", 13) == 0)
            continue;
        if (snprintf(name, sizeof name, " %.*s ", (int)length, from) >= (int)sizeof name || !strstr(elements, name))
            return 0;
        for (const char *key = from + length; *key && *key != '>'; key++) {
            const int starts = strchr(" \t\r\n/\"'", key[-1]) != NULL;
            if (starts && strncasecmp(key, "on", 2) == 0)
                return 0;
            if (starts && (strncasecmp(key, "href", 4) == 0 || strncasecmp(key, "xlink:href", 10) == 0) &&
                strspn(key + strcspn(key, "="), "= \t\"'") > 0 &&
                key[strcspn(key, "=") + strspn(key + strcspn(key, "="), "= \t\"'")] != '#')
                return 0;
        }
    }
    return strcasestr(text, "javascript:") == NULL && strcasestr(text, "@import") == NULL &&
           strcasestr(text, "url(http") == NULL;
}

/* The text of a regular file of at most 16 MB; NULL: there is none.  malloc'd. */
static char *read_text(const char *path)
{
    const size_t most = 16 << 20;
    uint64_t size = 0;
    attest_error none;
    char *text = NULL;
    FILE *in;
    if (attest_input_stream(&in, &size, path, &none) == ATTEST_OK && size < most && (text = malloc(size + 1)))
        text[fread(text, 1, size, in)] = '\0';
    if (in)
        fclose(in);
    return text;
}

/* The length of a group without anything in it, with the space behind it; 0: none is here.  gnuplot writes many. */
static size_t empty_group(const char *text)
{
    static const char end[] = "</g>";
    const char *at = strncmp(text, "<g ", 3) == 0 ? strchr(text, '>') : NULL;
    if (!at || at[-1] == '/')
        return 0;
    at++;
    at += strspn(at, " \t\r\n");
    if (strncmp(at, end, sizeof end - 1) != 0)
        return 0;
    at += sizeof end - 1;
    return (size_t)(at - text) + strspn(at, " \t\r\n");
}

/* Attributes with the value that they have without being written: gnuplot writes them on every group. */
static const struct {
    const char *key, *written;
} usual[] = { { "stroke-linecap", " stroke-linecap=\"butt\"" }, { "stroke-linejoin", " stroke-linejoin=\"miter\"" } };
enum { USUAL = sizeof usual / sizeof usual[0] };

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

/* How much of the text here draws nothing: an empty group, an attribute that says what holds anyway, the rest of a run
 * of spaces. */
static size_t idle(const char *text, const int only[USUAL], char before)
{
    if (*text == '<')
        return empty_group(text);
    for (size_t i = 0; *text == ' ' && i < USUAL; i++)
        if (only[i] && strncmp(text, usual[i].written, strlen(usual[i].written)) == 0)
            return strlen(usual[i].written);
    return strchr(" \t\r\n", before) ? strspn(text, " \t\r\n") : 0;
}

/* A drawing whose names begin with NAME-: several stand on one page. */
static void print_drawing(FILE *out, const char *text, const char *name)
{
    static const char *const before[] = { " id='", " id=\"", "href='#", "href=\"#", "url(#" };
    int only[USUAL];
    char last = '>';
    for (size_t i = 0; i < USUAL; i++) /* else an element inside would inherit another value */
        only[i] = count_of(text, usual[i].key) == count_of(text, usual[i].written);
    while (*text) {
        size_t length = idle(text, only, last);
        if (length > 0) {
            text += length;
            continue;
        }
        length = 1;
        for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
            if (strncmp(text, before[i], strlen(before[i])) == 0)
                length = strlen(before[i]);
        fwrite(text, 1, length, out);
        if (length > 1)
            fprintf(out, "%s-", name);
        text += length;
        last = text[-1];
    }
}

/* Copies DIR/NAME.svg from its <svg element on, if it is a drawing; 1: it did. */
static int copy_svg(FILE *out, const char *dir, const char *name, const char *class)
{
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/%s.svg", dir, name);
    char *text = read_text(path);
    const char *start = text ? strstr(text, "<svg") : NULL;
    const int shown = start && is_drawing(start);
    if (shown) {
        fprintf(out, "<div%s>", class);
        print_drawing(out, start, strncmp(name, "study-", 6) == 0 ? name + 6 : name); /* the names are short: many */
        fputs("</div>\n", out);
    } else if (text)
        fprintf(out, "<p class=\"fail\">%s.svg holds more than a drawing, and is not shown.</p>\n", name);
    free(text);
    return shown;
}

void attest_drawing_print(FILE *out, const char *dir, const char *name, const char *caption)
{
    char narrow[64], path[4096];
    snprintf(narrow, sizeof narrow, "%.50s-narrow", name);
    snprintf(path, sizeof path, "%.4000s/%s.svg", dir, narrow);
    const int both = access(path, R_OK) == 0;
    fputs("<figure>", out);
    if (copy_svg(out, dir, name, both ? " class=\"wide\"" : "")) {
        if (both)
            copy_svg(out, dir, narrow, " class=\"narrow\"");
        fprintf(out, "<figcaption>%s</figcaption>", caption);
    }
    fputs("</figure>\n", out);
}

/* table.c - see table.h. */
#include "reports/table.h"

#include "reports/files/json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void attest_print_xml(FILE *out, const char *text)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };
    for (; *text; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (entities[i].c == *text)
                entity = entities[i].entity;
        if (entity)
            fputs(entity, out);
        else
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    }
}

static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : *text == '\n' ? " " : (char[]){ *text, '\0' }, out);
}

void attest_print_markdown(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|`[]\\<>", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* ---- one cell, as each format has it ----------------------------------------------------------------------------- */
typedef struct cell {
    const attest_column *column;
    const char *text;
    attest_mark mark;
    int width; /* 0: not padded */
    int first, last, head;
} cell;

static void console_cell(FILE *out, const cell *c)
{
    const char *colour = c->mark.colour ? c->mark.colour : "";
    const int right = c->column->flags & ATTEST_COLUMN_RIGHT, width = right || !c->last ? c->width : 0;
    fprintf(out, "%*s%s%*s%s%s", c->column->gap + !c->first, "", colour, right ? width : -width, c->text,
            *colour ? "\033[0m" : "", c->last ? "\n" : "");
}

/* In a span of code everything is text but as many backticks as it begins with: one more than stand together in it. */
static void print_code(FILE *out, const char *text)
{
    const char *space = strchr(text, '`') ? " " : "";
    size_t most = 0, run = 0;
    for (const char *at = text; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        most = run > most ? run : most;
    }
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
    fputs(space, out);
    print_cell(out, text);
    fputs(space, out);
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
}

/* Bars and spaces; padded where `width` says so. */
static void markdown_cell(FILE *out, const cell *c)
{
    const uint32_t flags = c->head || strcmp(c->text, "-") == 0 ? 0 : c->column->flags;
    fputs("| ", out);
    if (!(flags & ATTEST_COLUMN_OUTSIDE))
        print_cell(out, c->text);
    else
        (flags & ATTEST_COLUMN_CODE ? print_code : attest_print_markdown)(out, c->text);
    fprintf(out, "%*s %s", c->width > (int)strlen(c->text) ? c->width - (int)strlen(c->text) : 0, "",
            c->last ? "|\n" : "");
}

/* `code` as <code>code</code>. */
static void print_noted(FILE *out, const char *text)
{
    int code = 0;
    while (*text) {
        char part[4096];
        const int len = (int)strcspn(text, "`"), most = (int)sizeof part - 1, taken = len < most ? len : most;
        snprintf(part, sizeof part, "%.*s", taken, text);
        attest_print_xml(out, part);
        text += taken;
        if (*text == '`') {
            fputs(code ? "</code>" : "<code>", out);
            code = !code;
            text++;
        }
    }
    fputs(code ? "</code>" : "", out);
}

static void html_cell(FILE *out, const cell *c)
{
    const uint32_t flags = c->column->flags;
    const int number = flags & ATTEST_COLUMN_RIGHT, code = flags & ATTEST_COLUMN_CODE && !c->head;
    const char *of_column = c->column->class && !c->head ? c->column->class : number ? "n" : "";
    const char *class = c->mark.class ? c->mark.class : of_column, *kind = c->head ? "th" : "td";
    fprintf(out, "%s<%s", c->first ? "<tr>" : "", kind);
    fprintf(out, *class ? " class=\"%s%s\">%s" : "%s%s>%s", number && c->mark.class ? "n " : "", class,
            code && *c->text ? "<code>" : "");
    (flags & ATTEST_COLUMN_NOTED ? print_noted : attest_print_xml)(out, c->text);
    fprintf(out, "%s%s", code && *c->text ? "</code>" : "", c->last ? "\n" : "");
}

/* A text that a spreadsheet would take for a formula: one that begins with these and is no number, nor one with its
 * decimal behind it: `-0x1.8p-4 (-0.09375)`. */
static int is_formula(const char *text)
{
    char *end;
    if (!*text || !text[1] || !strchr("=+-@\t\r", *text))
        return 0;
    strtod(text, &end);
    if (end != text && strncmp(end, " (", 2) == 0) {
        const char *decimal = end + 2;
        strtod(decimal, &end);
        return end == decimal || strcmp(end, ")") != 0;
    }
    return end == text || *end != '\0';
}

static void csv_cell(FILE *out, const cell *c)
{
    const int quoted = strpbrk(c->text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    fputs(is_formula(c->text) ? "'" : "", out);
    for (const char *at = c->text; *at; at++)
        fputs(*at == '"' ? "\"\"" : (char[]){ *at, '\0' }, out);
    fprintf(out, "%s%s", quoted ? "\"" : "", c->last ? "\n" : ",");
}

static void (*const writers[])(FILE *, const cell *) = {
    [ATTEST_TABLE_CONSOLE] = console_cell,  [ATTEST_TABLE_MARKDOWN] = markdown_cell,
    [ATTEST_TABLE_ALIGNED] = markdown_cell, [ATTEST_TABLE_HTML] = html_cell,
    [ATTEST_TABLE_CSV] = csv_cell,
};

static void write_cell(const attest_table *t, size_t at, const char *text, attest_mark mark, int width, int head)
{
    const cell c = { &t->column[at], text, mark, width, at == 0, at + 1 == t->columns, head };
    writers[t->format](t->out, &c);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static int width_of(const attest_table *t, size_t at)
{
    size_t width = t->format == ATTEST_TABLE_CONSOLE ? (size_t)t->column[at].width : 0;
    if (t->format != ATTEST_TABLE_ALIGNED && !(t->column[at].flags & ATTEST_COLUMN_FIT))
        return (int)width;
    width = strlen(t->column[at].head) > width ? strlen(t->column[at].head) : width;
    for (size_t k = at; k < t->kept_count; k += t->columns)
        width = strlen(t->kept[k]) > width ? strlen(t->kept[k]) : width;
    return (int)width;
}

/* The heads and, in Markdown, the line below them. */
static void write_heads(const attest_table *t)
{
    const attest_mark none = { NULL, NULL };
    fputs(t->format == ATTEST_TABLE_HTML
              ? "<div class=\"wrap\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table>"
              : "",
          t->out);
    for (size_t c = 0; c < t->columns; c++)
        write_cell(t, c, t->column[c].head, none, width_of(t, c), 1);
    for (size_t c = 0; c < t->columns && t->format == ATTEST_TABLE_MARKDOWN; c++)
        fprintf(t->out, "|---%s%s", t->column[c].flags & ATTEST_COLUMN_RIGHT ? ":" : "",
                c + 1 == t->columns ? "|\n" : "");
    for (size_t c = 0; c < t->columns && t->format == ATTEST_TABLE_ALIGNED; c++) {
        fputc('|', t->out);
        for (int k = width_of(t, c) + 2; k > 0; k--)
            fputc('-', t->out);
        fputs(c + 1 == t->columns ? "|\n" : "", t->out);
    }
}

void attest_table_begin(attest_table *table, FILE *out, attest_table_format format, const attest_column *column,
                        size_t columns)
{
    *table = (attest_table){ .out = out, .format = format, .column = column, .columns = columns };
    table->fitted = format == ATTEST_TABLE_ALIGNED;
    for (size_t c = 0; c < columns && format == ATTEST_TABLE_CONSOLE; c++)
        table->fitted |= (column[c].flags & ATTEST_COLUMN_FIT) != 0;
    if (!table->fitted)
        write_heads(table);
}

/* A cell is lost, and who ends the table may not look: the program has to know. */
static void fail(attest_table *t)
{
    t->failed = 1;
    attest_starve();
}

/* Takes `text` over. */
static void keep(attest_table *t, char *text)
{
    if (t->kept_count == t->capacity) {
        const size_t capacity = t->capacity ? 2 * t->capacity : 64;
        char **kept = realloc(t->kept, capacity * sizeof *kept);
        t->kept = kept ? kept : t->kept;
        attest_mark *marks = realloc(t->marks, capacity * sizeof *marks);
        t->marks = marks ? marks : t->marks;
        t->capacity = kept && marks ? capacity : t->capacity;
    }
    if (t->kept_count == t->capacity)
        fail(t);
    if (t->failed) {
        free(text);
        return;
    }
    t->marks[t->kept_count] = t->mark;
    t->kept[t->kept_count++] = text;
}

void attest_table_cell(attest_table *table, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
        fail(table);
    }
    va_end(arguments);
    if (text && table->fitted) {
        keep(table, text);
    } else if (text) {
        write_cell(table, table->at, text, table->mark, width_of(table, table->at), 0);
        free(text);
    }
    table->mark = (attest_mark){ NULL, NULL };
    table->at = (table->at + 1) % table->columns;
}

void attest_table_number(attest_table *table, double x)
{
    if (x == x)
        attest_table_cell(table, "%.3g", x);
    else
        attest_table_cell(table, "-");
}

const char *attest_ratio_text(char text[ATTEST_RATIO_TEXT], double ratio)
{
    if (ratio != ratio)
        return strcpy(text, "-");
    for (int digits = 3; digits <= 17; digits++) {
        snprintf(text, ATTEST_RATIO_TEXT, "%.*g", digits, ratio);
        const double shown = strtod(text, NULL);
        if ((shown < 1) == (ratio < 1) && (shown > 1) == (ratio > 1))
            break;
    }
    return text;
}

void attest_table_ratio(attest_table *table, double ratio)
{
    char text[ATTEST_RATIO_TEXT];
    attest_table_cell(table, "%s", attest_ratio_text(text, ratio));
}

void attest_table_count(attest_table *table, int64_t n) { attest_table_cell(table, "%lld", (long long)n); }

void attest_table_mark(attest_table *table, attest_mark mark) { table->mark = mark; }

static attest_status write_kept(const attest_table *t, attest_error *err)
{
    int *width = calloc(t->columns, sizeof *width);
    if (!width)
        attest_starve();
    if (!width)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for a table of %zu columns", t->columns);
    write_heads(t);
    for (size_t c = 0; c < t->columns; c++)
        width[c] = width_of(t, c);
    for (size_t k = 0; k < t->kept_count; k++)
        write_cell(t, k % t->columns, t->kept[k], t->marks[k], width[k % t->columns], 0);
    free(width);
    return ATTEST_OK;
}

attest_status attest_table_end(attest_table *table, attest_error *err)
{
    attest_status status = ATTEST_OK;
    if (table->failed)
        status = attest_fail(err, ATTEST_NO_MEMORY, "no memory for a table");
    else if (table->fitted)
        status = write_kept(table, err);
    if (table->format == ATTEST_TABLE_HTML)
        fputs("</table></div>\n", table->out);
    for (size_t k = 0; k < table->kept_count; k++)
        free(table->kept[k]);
    free(table->kept);
    free(table->marks);
    table->kept = NULL;
    table->marks = NULL;
    table->kept_count = table->capacity = 0;
    return status;
}

void attest_table_close(attest_table *table)
{
    attest_error err;
    if (attest_table_end(table, &err) != ATTEST_OK)
        fprintf(table->out, "%s\n", err.text);
}

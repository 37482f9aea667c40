/* table.h - the one writer of tables: columns once, then cells from left to right, row by row.
 *
 * A row is written when its last cell is there; a table of format ATTEST_TABLE_ALIGNED, or with a column that is
 * ATTEST_COLUMN_FIT, when it ends: only then widths are known.  Nothing else is kept.
 *
 *     console   columns padded to their width; a longer cell moves the rest; no padding behind the last, left column
 *     Markdown  | a | b |, numbers to the right by `---:`; | is escaped, a new line becomes a space
 *     aligned   Markdown whose columns are padded, for people who read it as it is
 *     HTML      <div class="wrap" ...><table>...</table></div>, which a keyboard can scroll; without </td> and </tr>:
 *               HTML needs none, and they would be a tenth of a page
 *     CSV       RFC 4180: cells with a comma, a quote or a new line are quoted; a text that a spreadsheet would take
 *               for a formula (= + - @ or a tab first, and no number) begins with an apostrophe
 */
#ifndef ATTEST_TABLE_H
#define ATTEST_TABLE_H

#include <stdio.h>

#include "kernels/status.h"

typedef enum attest_table_format {
    ATTEST_TABLE_CONSOLE = 0,
    ATTEST_TABLE_MARKDOWN = 1,
    ATTEST_TABLE_ALIGNED = 2,
    ATTEST_TABLE_HTML = 3,
    ATTEST_TABLE_CSV = 4
} attest_table_format;

enum {
    ATTEST_COLUMN_RIGHT = 1u << 0, /* numbers */
    ATTEST_COLUMN_CODE = 1u << 1,  /* HTML: <code> */
    ATTEST_COLUMN_FIT = 1u << 2,   /* console: as wide as its widest cell */
    ATTEST_COLUMN_NOTED = 1u << 3, /* HTML: `code` in a cell's text becomes <code> */
    /* Text from outside: in Markdown what would be markup there is escaped; with ATTEST_COLUMN_CODE it stands in ` ` */
    ATTEST_COLUMN_OUTSIDE = 1u << 4
};

typedef struct attest_column {
    const char *head;
    uint32_t flags;
    int width;         /* console: at least this */
    int gap;           /* console: spaces before it, on top of the one between columns */
    const char *class; /* HTML class of its cells, or NULL: `n` for numbers, else none */
} attest_column;

/* Bytes of a ratio's text. */
enum { ATTEST_RATIO_TEXT = 32 };

/* What sets one cell apart: an HTML class in place of the column's, a terminal's escape sequence; both may be NULL. */
typedef struct attest_mark {
    const char *class, *colour;
} attest_mark;

typedef struct attest_table {
    FILE *out;
    attest_table_format format;
    const attest_column *column; /* borrowed until the end */
    size_t columns, at;
    attest_mark mark; /* of the next cell */
    int fitted, failed;
    char **kept; /* cells of a fitted table */
    attest_mark *marks;
    size_t kept_count, capacity;
} attest_table;

/* Writes the heads (or keeps them). */
void attest_table_begin(attest_table *table, FILE *out, attest_table_format format, const attest_column *column,
                        size_t columns);
/* The next cell; after the last one of a row comes the first of the next. */
void attest_table_cell(attest_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number with three digits, `-` for NaN. */
void attest_table_number(attest_table *table, double x);
/* error/bound with three digits, more where they are needed to show on which side of 1 it stands: 0.9996 is not 1.
   `-` for NaN. */
void attest_table_ratio(attest_table *table, double ratio);
/* The same text, for lines that are no table.  Returns text. */
const char *attest_ratio_text(char text[ATTEST_RATIO_TEXT], double ratio);
void attest_table_count(attest_table *table, int64_t n);
/* The next cell's mark. */
void attest_table_mark(attest_table *table, attest_mark mark);
/* Writes what is kept and ends the table.  ATTEST_NO_MEMORY: a fitted one could not be kept, and is not written. */
attest_status attest_table_end(attest_table *table, attest_error *err);

/* The same for who tells a person: a failure stands where the table would. */
void attest_table_close(attest_table *table);

/* Text with & < > " escaped, for XML and HTML; control characters become spaces. */
void attest_print_xml(FILE *out, const char *text);
/* Text from outside in Markdown, in a table or not: what would be markup is escaped, a new line becomes a space. */
void attest_print_markdown(FILE *out, const char *text);

#endif

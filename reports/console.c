/* console.c - the terminal's view: a line per kernel, then what needs attention with its command. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/write.h"

static const char *const colours[ATTEST_VERDICT_COUNT] = { "\033[32m", "\033[31m", "\033[33m", "\033[2m", "\033[31m",
                                                           "\033[31m", "\033[36m", "\033[33m", "" };

int attest_want_colour(FILE *stream)
{
    const char *none = getenv("NO_COLOR");
    return isatty(fileno(stream)) && !(none && *none);
}

static void print_verdict(FILE *out, int64_t verdict, int width, int colour)
{
    fprintf(out, "%s%-*s%s", colour ? colours[verdict] : "", width, attest_verdict_names[verdict],
            colour ? "\033[0m" : "");
}

void attest_row_print_line(FILE *out, const attest_row *row, int colour)
{
    char reasons[256];
    attest_reasons_text(reasons, sizeof reasons, row->reasons);
    print_verdict(out, row->verdict, 10, colour);
    fprintf(out, " %-24s %s", row->kernel, row->line);
    if (row->ratio_hi == row->ratio_hi)
        fprintf(out, "  ratio %.3g  ulp %.3g", row->ratio_hi, row->ulp_hi);
    if (*reasons)
        fprintf(out, "  [%s]", reasons);
    if (*row->why)
        fprintf(out, "  %s", row->why);
    fputc('\n', out);
}

/* A number that may be missing (-1). */
static void print_number(FILE *out, int width, double x)
{
    if (x < 0)
        fprintf(out, " %*s", width, "-");
    else
        fprintf(out, " %*.3g", width, x);
}

static void print_tally(FILE *out, const attest_tally *t, int name_width, int colour)
{
    static const int columns[] = { ATTEST_PASS,       ATTEST_FAIL,  ATTEST_UNDECIDED, ATTEST_ILLPOSED,
                                   ATTEST_MISTRUSTED, ATTEST_CRASH, ATTEST_TIMEOUT,   ATTEST_SKIP };
    fprintf(out, "%-*s %5zu", name_width, t->kernel, t->cases);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const size_t n = t->by_verdict[columns[i]];
        const char *on = n && colour ? colours[columns[i]] : "";
        if (n)
            fprintf(out, " %s%9zu%s", on, n, *on ? "\033[0m" : "");
        else
            fprintf(out, " %9s", ".");
    }
    print_number(out, 11, t->worst_ratio);
    print_number(out, 10, t->worst_ulp);
    fputc('\n', out);
}

static void print_attention(FILE *out, const attest_row *row, int colour)
{
    fputc('\n', out);
    attest_row_print_line(out, row, colour);
    if (*row->worst)
        fprintf(out, "    worst %s: got %s, truth %s, bound %.3g\n", row->worst, row->got, row->truth, row->bound);
    if (*row->reproduction)
        fprintf(out, "    %s\n", row->reproduction);
}

/* Skips of whole kernels (no problem line): they are not passes. */
static void print_skips(FILE *out, const attest_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->row[i].verdict == ATTEST_SKIP && rows->row[i].line[0] == '\0')
            fprintf(out, "skip: %s: %s\n", rows->row[i].kernel, rows->row[i].why);
}

/* What was not tried on rows that pass: how many, and what the first one says. */
static void print_notes(FILE *out, const attest_rows *rows, const attest_tally *t)
{
    const char *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *row = &rows->row[i];
        if (row->verdict != ATTEST_PASS || !row->why[0] || strcmp(row->kernel, t->kernel) != 0)
            continue;
        first = first ? first : row->why;
        count++;
    }
    if (first)
        fprintf(out, "note: %s: %zu of the rows that pass: %s\n", t->kernel, count, first);
}

void attest_rows_print_console(FILE *out, const attest_rows *rows, int colour)
{
    attest_error err;
    attest_tally *tallies = NULL;
    size_t count = 0, bad = 0, shown = 0;
    int width = 12;
    if (attest_tally_rows(&tallies, &count, rows, &err) != ATTEST_OK) {
        fprintf(out, "%s\n", err.text);
        return;
    }
    for (size_t i = 0; i < count; i++)
        width = (int)strlen(tallies[i].kernel) > width ? (int)strlen(tallies[i].kernel) : width;
    fprintf(out, "%-*s %5s %9s %9s %9s %9s %9s %9s %9s %9s %11s %10s\n", width, "kernel", "cases", "pass", "fail",
            "undecided", "illposed", "mistrust", "crash", "timeout", "skip", "worst ratio", "worst ulp");
    for (size_t i = 0; i < count; i++)
        print_tally(out, &tallies[i], width, colour);
    for (int rank = 0; rank < ATTEST_RANKS_BAD; rank++)
        for (size_t i = 0; i < rows->count; i++) {
            if (attest_row_rank(&rows->row[i]) != rank)
                continue;
            if (bad++ < 10) {
                print_attention(out, &rows->row[i], colour);
                shown++;
            }
        }
    if (bad > shown)
        fprintf(out, "\nand %zu more; --out DIR writes all rows\n", bad - shown);
    print_skips(out, rows);
    for (size_t i = 0; i < count; i++)
        print_notes(out, rows, &tallies[i]);
    if (attest_warnings_tell(out, rows, &err) != ATTEST_OK)
        fprintf(out, "%s\n", err.text);
    free(tallies);
}

/* write.c - see write.h. */
#include "reports/write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

attest_status attest_output_open(attest_output *out, const char *path, attest_error *err)
{
    out->file = NULL;
    if ((size_t)snprintf(out->path, sizeof out->path, "%s", path) >= sizeof out->path)
        return attest_fail(err, ATTEST_BAD_INPUT, "%.100s...: the path is too long", path);
    snprintf(out->temporary, sizeof out->temporary, "%s.tmp", path);
    out->file = fopen(out->temporary, "w");
    if (!out->file)
        return attest_fail(err, ATTEST_BAD_INPUT, "%s: cannot write: %s", path, strerror(errno));
    return ATTEST_OK;
}

attest_status attest_output_close(attest_output *out, attest_status status, attest_error *err)
{
    if (!out->file)
        return status;
    const int bad = ferror(out->file) || fflush(out->file) != 0;
    const int closed = fclose(out->file);
    out->file = NULL;
    if (status == ATTEST_OK && (bad || closed != 0))
        status = attest_fail(err, ATTEST_IO, "%s: write failed: %s", out->path, strerror(errno));
    if (status == ATTEST_OK && rename(out->temporary, out->path) != 0)
        status = attest_fail(err, ATTEST_IO, "%s: cannot rename into place: %s", out->path, strerror(errno));
    if (status != ATTEST_OK)
        unlink(out->temporary);
    return status;
}

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

void attest_print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fputs(*text == '|' ? "\\|" : *text == '\n' ? " " : (char[]){ *text, '\0' }, out);
}

attest_status attest_tally_rows(attest_tally **tallies, size_t *count, const attest_rows *rows, attest_error *err)
{
    *count = 0;
    *tallies = calloc(rows->count + 1, sizeof **tallies);
    if (!*tallies)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu tallies", rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *row = &rows->row[i];
        size_t k = 0;
        while (k < *count && strcmp((*tallies)[k].kernel, row->kernel) != 0)
            k++;
        attest_tally *t = &(*tallies)[k];
        if (k == *count) {
            (*count)++;
            memcpy(t->kernel, row->kernel, sizeof t->kernel);
            t->worst_ratio = t->worst_ulp = -1;
        }
        t->cases++;
        t->by_verdict[row->verdict >= 0 && row->verdict < ATTEST_VERDICT_COUNT ? row->verdict : ATTEST_FAIL]++;
        if (row->ratio_hi > t->worst_ratio) {
            t->worst_ratio = row->ratio_hi;
            memcpy(t->worst_line, row->line, sizeof t->worst_line);
        }
        if (row->ulp_hi > t->worst_ulp)
            t->worst_ulp = row->ulp_hi;
    }
    return ATTEST_OK;
}

int attest_row_rank(const attest_row *row)
{
    static const int rank[ATTEST_VERDICT_COUNT] = {
        [ATTEST_PASS] = 4,    [ATTEST_FAIL] = 1,     [ATTEST_UNDECIDED] = 2,  [ATTEST_SKIP] = 3,    [ATTEST_CRASH] = 0,
        [ATTEST_TIMEOUT] = 0, [ATTEST_ILLPOSED] = 3, [ATTEST_MISTRUSTED] = 2, [ATTEST_MEASURED] = 4
    };
    return rank[row->verdict >= 0 && row->verdict < ATTEST_VERDICT_COUNT ? row->verdict : ATTEST_FAIL];
}

int attest_row_bad(const attest_row *row)
{
    return attest_row_rank(row) < ATTEST_RANKS_BAD;
}

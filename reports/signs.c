/* signs.c - variants whose weights or denominators are not positive, told as a class of their own. */
#include <stdlib.h>
#include <string.h>

#include "reports/write.h"

/* `variant=taylor:3` of a line; lines begin with it. */
static void variant_of(char *text, size_t len, const char *line)
{
    snprintf(text, len, "%.*s", (int)strcspn(line, " "), line);
}

static attest_signs *find(attest_signs *list, size_t *count, const char *variant)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i].variant, variant) == 0)
            return &list[i];
    attest_signs *s = &list[(*count)++];
    memset(s, 0, sizeof *s);
    snprintf(s->variant, sizeof s->variant, "%.60s", variant);
    return s;
}

attest_status attest_signs_rows(attest_signs **signs, size_t *count, const attest_rows *rows, attest_error *err)
{
    size_t kept = 0;
    *count = 0;
    *signs = malloc((rows->count + 1) * sizeof **signs);
    if (!*signs)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu rows", rows->count);
    for (size_t i = 0; i < rows->count; i++) {
        const attest_row *row = &rows->row[i];
        char variant[64];
        if (row->rows_judged == 0)
            continue;
        variant_of(variant, sizeof variant, row->line);
        attest_signs *s = find(*signs, count, variant);
        s->cases++;
        s->illposed += row->verdict == ATTEST_ILLPOSED;
        s->rows += row->rows_judged;
        s->negative_weight += row->rows_negative_weight;
        s->negative_sum += row->rows_negative_sum;
        s->vanishing += row->rows_vanishing;
    }
    for (size_t i = 0; i < *count; i++)
        if ((*signs)[i].negative_weight + (*signs)[i].negative_sum + (*signs)[i].vanishing)
            (*signs)[kept++] = (*signs)[i];
    *count = kept;
    return ATTEST_OK;
}

static void print_line(FILE *out, const attest_signs *s, int html)
{
    fprintf(out, html ? "<tr><td><code>" : "| ");
    if (html)
        attest_print_xml(out, s->variant);
    else
        fprintf(out, "%s", s->variant);
    fprintf(out,
            html ? "</code></td><td class=\"n\">%zu</td><td class=\"n\">%zu</td><td class=\"n\">%lld</td>"
                   "<td class=\"n\">%lld</td><td class=\"n\">%lld</td><td class=\"n\">%lld</td></tr>\n"
                 : " | %zu | %zu | %lld | %lld | %lld | %lld |\n",
            s->cases, s->illposed, (long long)s->rows, (long long)s->negative_weight, (long long)s->negative_sum,
            (long long)s->vanishing);
}

attest_status attest_signs_print(FILE *out, const attest_rows *rows, int html, attest_error *err)
{
    attest_signs *signs = NULL;
    size_t count = 0;
    attest_status status = attest_signs_rows(&signs, &count, rows, err);
    if (status != ATTEST_OK || count == 0)
        goto out;
    fprintf(out,
            html ? "<h2>Negative weights and denominators</h2>\n<p>Rows of judged cases where the formula itself has "
                   "them (odd Taylor orders, linear attention); nothing is clamped. Where the divisor may be 0, o has "
                   "no truth: u and z are judged alone and the case is ill-posed.</p>\n<div class=\"wrap\"><table>"
                   "<tr><th>variant<th class=\"n\">cases<th class=\"n\">ill-posed cases<th class=\"n\">rows"
                   "<th class=\"n\">a negative weight<th class=\"n\">z &lt; 0<th class=\"n\">divisor may be 0</tr>\n"
                 : "\n| variant | cases | ill-posed cases | rows | a negative weight | z < 0 | divisor may be 0 |\n"
                   "|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < count; i++)
        print_line(out, &signs[i], html);
    if (html)
        fprintf(out, "</table></div>\n");
out:
    free(signs);
    return status;
}

/* signs.c - variants whose weights or denominators are not positive, told as a class of their own. */
#include <string.h>

#include "reports/overview.h"

static int is_sign_of(const void *entry, const attest_result *result)
{
    return strcmp(((const attest_sign *)entry)->variant, result->variant) == 0;
}

attest_status attest_signs_take(attest_signs *signs, const attest_result *result, attest_error *err)
{
    int fresh;
    void *list = signs->sign;
    if (result->rows_judged == 0)
        return ATTEST_OK;
    attest_sign *s = attest_find_or_add(&list, &signs->count, &signs->capacity, sizeof *s, is_sign_of, result, &fresh);
    signs->sign = list;
    if (!s)
        return attest_fail(err, ATTEST_NO_MEMORY, "no memory for %zu variants", signs->count + 1);
    if (fresh)
        memcpy(s->variant, result->variant, sizeof s->variant);
    s->cases++;
    s->illposed += result->verdict == ATTEST_ILLPOSED;
    s->rows += result->rows_judged;
    s->negative_weight += result->rows_negative_weight;
    s->negative_sum += result->rows_negative_sum;
    s->vanishing += result->rows_vanishing;
    return ATTEST_OK;
}

void attest_signs_end(attest_signs *signs)
{
    size_t kept = 0;
    for (size_t i = 0; i < signs->count; i++)
        if (signs->sign[i].negative_weight + signs->sign[i].negative_sum + signs->sign[i].vanishing)
            signs->sign[kept++] = signs->sign[i];
    signs->count = kept;
}

attest_status attest_signs_print(FILE *out, const attest_signs *signs, int html, attest_error *err)
{
    static const attest_column columns[] = {
        { .head = "variant", .flags = ATTEST_COLUMN_CODE },
        { .head = "cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "ill-posed cases", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "rows", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "a negative weight", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "z < 0", .flags = ATTEST_COLUMN_RIGHT },
        { .head = "divisor may be 0", .flags = ATTEST_COLUMN_RIGHT },
    };
    attest_table table;
    if (signs->count == 0)
        return ATTEST_OK;
    fputs(html ? "<h2>Negative weights and denominators</h2>\n<p>Rows of judged cases where the formula itself has "
                 "them (odd Taylor orders, linear attention); nothing is clamped. Where the divisor may be 0, o has "
                 "no truth: u and z are judged alone and the case is ill-posed.</p>\n"
               : "\n",
          out);
    attest_table_begin(&table, out, html ? ATTEST_TABLE_HTML : ATTEST_TABLE_MARKDOWN, columns,
                       sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < signs->count; i++) {
        const attest_sign *s = &signs->sign[i];
        const int64_t counts[] = { (int64_t)s->cases,  (int64_t)s->illposed, s->rows,
                                   s->negative_weight, s->negative_sum,      s->vanishing };
        attest_table_cell(&table, "%s", s->variant);
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            attest_table_count(&table, counts[k]);
    }
    return attest_table_end(&table, err);
}

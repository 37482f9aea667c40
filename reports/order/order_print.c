/* order_print.c - the table of orders, for people. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/order/order.h"

/* `2^-8`, or the number. */
static void tolerance_text(char *text, size_t len, double x)
{
    int exponent;
    if (frexp(x, &exponent) == 0.5)
        snprintf(text, len, "2^%d", exponent - 1);
    else
        snprintf(text, len, "%.3g", x);
}

static void order_text(char *text, size_t len, const attest_order_cell *c)
{
    if (c->order < 0)
        snprintf(text, len, "> %d", ATTEST_ORDER_MOST);
    else
        snprintf(text, len, "%lld", (long long)c->order);
}

static int any_cost(const attest_orders *orders)
{
    for (size_t i = 0; i < orders->count; i++)
        if (orders->cell[i].cost_n > 0)
            return 1;
    return 0;
}

static int any_head(const attest_orders *orders) { return orders->count > 0 && orders->cell[0].head[0] != '\0'; }

static void print_cell(attest_table *table, const attest_order_cell *c, int heads, int costs)
{
    char text[64];
    if (heads)
        attest_table_cell(table, "%s", c->head);
    attest_table_cell(table, "%.6g", c->range);
    attest_table_cell(table, "%s", c->center);
    tolerance_text(text, sizeof text, c->tolerance);
    attest_table_cell(table, "%s", text);
    attest_table_cell(table, "%s", c->own[0] ? c->own : "-");
    order_text(text, sizeof text, c);
    attest_table_cell(table, "%s", text);
    attest_table_number(table, c->at_hi);
    if (isinf(c->below_lo))
        attest_table_cell(table, "no bound");
    else
        attest_table_number(table, c->below_lo);
    if (!costs)
        return;
    if (c->cost_n == 0) {
        attest_table_cell(table, "not in the study");
        return;
    }
    attest_table_cell(table, "%.3g ns, softmax %.3g (%.2gx), N=%lld d=%lld, %s", c->cost, c->cost_softmax,
                      c->cost / c->cost_softmax, (long long)c->cost_n, (long long)c->cost_d, c->cost_kernel);
}

attest_status attest_orders_print(FILE *out, const attest_orders *orders, attest_error *err)
{
    static const attest_column all[] = {
        { .head = "head", .flags = ATTEST_COLUMN_FIT },
        { .head = "range", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "center", .flags = ATTEST_COLUMN_FIT },
        { .head = "error <=", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "u of", .flags = ATTEST_COLUMN_FIT },
        { .head = "order", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "error there <=", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "one below >=", .flags = ATTEST_COLUMN_FIT | ATTEST_COLUMN_RIGHT },
        { .head = "cost a token", .flags = ATTEST_COLUMN_FIT },
    };
    const int heads = any_head(orders), costs = any_cost(orders);
    attest_table table;
    attest_table_begin(&table, out, ATTEST_TABLE_CONSOLE, all + !heads, (size_t)(7 + heads + costs));
    for (size_t i = 0; i < orders->count; i++)
        print_cell(&table, &orders->cell[i], heads, costs);
    const attest_status status = attest_table_end(&table, err);
    fprintf(out, "Smallest P of taylor:P whose normalised weights are all within the relative error, on every row of "
                 "the range;\nboth ends are proven (R-TAIL). range: largest less smallest score of a row, after the "
                 "scale; of center zero:\nlargest |score|. center: what is taken off the scores of a row before the "
                 "series, its max, min or the middle of these.\n");
    for (size_t i = 0; i < orders->count; i++)
        if (orders->cell[i].order < 0 || orders->cell[i].order > ATTEST_ORDER_SERVED) {
            fprintf(out, "Orders above %d are beyond taylor:P.\n", ATTEST_ORDER_SERVED);
            break;
        }
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */
/* Cells of one row of the page lie together: as many as follow with this head, or else with this range. */
static size_t row_length(const attest_orders *orders, size_t from)
{
    const attest_order_cell *first = &orders->cell[from];
    size_t count = 1;
    while (from + count < orders->count && strcmp(orders->cell[from + count].head, first->head) == 0 &&
           (first->head[0] || orders->cell[from + count].range == first->range))
        count++;
    return count;
}

/* 1: every row has the columns of the first one. */
static int is_regular(const attest_orders *orders, size_t columns)
{
    for (size_t i = 0; i < orders->count; i += columns) {
        if (row_length(orders, i) != columns)
            return 0;
        for (size_t c = 0; c < columns; c++)
            if (strcmp(orders->cell[i + c].center, orders->cell[c].center) != 0 ||
                orders->cell[i + c].tolerance != orders->cell[c].tolerance)
                return 0;
    }
    return 1;
}

/* `mid, bf16 (2^-8)` */
static void head_text(char *text, size_t len, const attest_order_cell *c)
{
    char tolerance[32];
    tolerance_text(tolerance, sizeof tolerance, c->tolerance);
    if (c->own[0])
        snprintf(text, len, "%s, %s (%s)", c->center, c->own, tolerance);
    else
        snprintf(text, len, "%s, %s", c->center, tolerance);
}

static attest_status print_rows(FILE *out, const attest_orders *orders, size_t columns, attest_error *err)
{
    const int heads = any_head(orders);
    char(*names)[80] = calloc(columns, sizeof *names);
    attest_column *column = calloc(columns + 1, sizeof *column);
    attest_table table;
    char text[64];
    attest_status status = ATTEST_OK;
    if (!names || !column)
        ATTEST_TRY(attest_fail(err, ATTEST_NO_MEMORY, "no memory for the table of orders"));
    column[0] = (attest_column){ .head = heads ? "head: range" : "range", .flags = ATTEST_COLUMN_RIGHT };
    for (size_t c = 0; c < columns; c++) {
        head_text(names[c], sizeof names[c], &orders->cell[c]);
        column[c + 1] = (attest_column){ .head = names[c], .flags = ATTEST_COLUMN_RIGHT };
    }
    attest_table_begin(&table, out, ATTEST_TABLE_HTML, column, columns + 1);
    for (size_t i = 0; i < orders->count; i += columns) {
        const attest_order_cell *row = &orders->cell[i];
        attest_table_cell(&table, "%s%s%.4g", row->head, heads ? ": " : "", row->range);
        for (size_t c = 0; c < columns; c++) {
            order_text(text, sizeof text, &row[c]);
            attest_table_cell(&table, "%s", text);
        }
    }
    status = attest_table_end(&table, err);
out:
    free(names);
    free(column);
    return status;
}

attest_status attest_orders_print_html(FILE *out, const attest_orders *orders, attest_error *err)
{
    const size_t columns = orders->count > 0 ? row_length(orders, 0) : 0;
    if (columns == 0)
        return ATTEST_OK;
    if (!is_regular(orders, columns))
        return attest_fail(err, ATTEST_BAD_INPUT, "order.json: its rows differ in their columns");
    fputs("<h2>Which order do I need?</h2>\n"
          "<p>Smallest order P of <code>taylor:P</code> by score range and by the center of the expansion, for which "
          "every normalised weight is within the rounding of the type: proven for every row of the range.</p>\n",
          out);
    const attest_status status = print_rows(out, orders, columns, err);
    fprintf(out,
            "<p>range: largest less smallest score of a row (center zero: largest size). Orders above %d are "
            "beyond taylor:P. The evidence: <code>attest order</code>.</p>\n",
            ATTEST_ORDER_SERVED);
    return status;
}

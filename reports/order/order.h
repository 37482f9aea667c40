/* order.h - which Taylor order is needed: a table of smallest orders, as text, JSON, HTML and the file order.json.
 *
 * Answers how such a table is told and kept.  What the smallest orders are is computed elsewhere (verify/order).
 *
 * The error of a cell is the largest relative error of a normalised weight, max_j |w^T_j/w_j - 1|, over every row whose
 * scores span at most `range` (center zero: are at most `range` in size); for rows of many keys nothing below it holds.
 */
#ifndef ATTEST_ORDER_TABLE_H
#define ATTEST_ORDER_TABLE_H

#include "reports/report.h"

#define ATTEST_ORDER_MOST 511  /* a larger order is not looked for */
#define ATTEST_ORDER_SERVED 64 /* the largest P of taylor:P */

typedef struct attest_order_cell {
    char head[32]; /* `b0 h3` of a trace; "": any row of the range */
    double range;
    char center[8];
    double tolerance;
    char own[32];              /* types whose unit roundoff the tolerance is, `bf16`; "": none */
    int64_t order;             /* smallest that suffices; -1: none up to ATTEST_ORDER_MOST */
    double at_hi;              /* the error at that order is at most this; NAN: none */
    double below_lo;           /* the error one order below is at least this; infinite: without bound; NAN: order 0 */
    int64_t cost_n, cost_d;    /* keys and width of a head at which `cost` was measured; 0: not measured */
    double cost, cost_softmax; /* ns a token of the fastest kernel of that order and center, and of softmax */
    char cost_kernel[64];
} attest_order_cell;

typedef struct attest_orders {
    attest_order_cell *cell; /* range by range (head by head), centers within, tolerances within */
    size_t count, capacity;
} attest_orders;

/* Appends a copy; the list starts from { 0 }. */
attest_status attest_orders_add(attest_orders *orders, const attest_order_cell *cell, attest_error *err);
void attest_orders_clear(attest_orders *orders);

/* One row a cell, with its evidence, and the cost beside softmax where it is known. */
attest_status attest_orders_print(FILE *out, const attest_orders *orders, attest_error *err);
/* JSON lines: one cell an object. */
attest_status attest_orders_print_json(FILE *out, const attest_orders *orders);
/* HTML: a row a range (or head), a column a center and tolerance; nothing for an empty table. */
attest_status attest_orders_print_html(FILE *out, const attest_orders *orders, attest_error *err);

/* PATH: a JSON array of cells.  Reading: ATTEST_BAD_INPUT names the file and the key that is missing or of another
 * type. */
attest_status attest_orders_write(const attest_orders *orders, const char *path, attest_error *err);
attest_status attest_orders_read(attest_orders *orders, const char *path, attest_error *err);

#endif

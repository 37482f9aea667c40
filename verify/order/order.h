/* order.h - the smallest Taylor order for a range of scores, a center and a tolerance, with proof; and what it costs.
 *
 * Answers attest_orders (reports/order/order.h, which says what a range is).  The range is given, or that of the scores
 * of a trace.  Runs no kernel; costs are those that a study measured.
 *
 * A cell's order p is proven from both sides (R-TAIL, attest_evidence_weight_error): the error at p is at most the
 * tolerance, that of every smaller order above it.
 */
#ifndef ATTEST_ORDER_H
#define ATTEST_ORDER_H

#include "reports/order/order.h"
#include "verify/base/base.h"

#define ATTEST_ORDER_LIST 64 /* values of each list */

/* What is asked: every center for every range, every tolerance for each.  Tolerances: 2^-8, 2^-11, 2^-24, and the unit
 * roundoffs of the types asked for that are none of these. */
typedef struct attest_order_request {
    double range[ATTEST_ORDER_LIST];
    size_t ranges;
    const char *center[4];
    size_t centers;
    uint32_t type[4];
    size_t types;
} attest_order_request;

/* Reads the lists `2,8`, `mid,max`, `bf16,f32`; NULL: 1,2,4,8,16,32; mid,min,max,zero; bf16,f16,f32.  ATTEST_BAD_INPUT:
 * `--range=x: what is allowed`; ranges are above 0 and at most 1e6. */
attest_status attest_order_read(attest_order_request *request, const char *ranges, const char *centers,
                                const char *types, attest_error *err);

/* Appends the cells of every range of the request, however large: of one that no order serves, what is said of its
 * error is that of a smaller range, which is a lower bound.  ATTEST_INTERNAL: a cell cannot be decided. */
attest_status attest_order_measure(attest_orders *orders, const attest_order_request *request, attest_error *err);

/* Appends the cells of every head (b,h) of the trace in DIR: q.npy [B,Hq,N,d] and k.npy [B,Hkv,M,d], of `line` (mask,
 * scale, ..; sizes and the type are the files').  The range of a head is the largest of its rows, an upper bound of it
 * (balls); of center zero the largest |score|.  A row with one visible key has range 0.  ATTEST_BAD_INPUT: no such
 * file, scores that are not finite, a line that reads more tensors, or whose weights are not those of softmax. */
attest_status attest_order_trace(attest_orders *orders, const attest_order_request *request, const char *dir,
                                 const char *line, attest_error *err);

/* Notes in each cell what DIR/study-cost.jsonl says of its order and center, taylor:P for zero and shifted:P for max
 * (no study times mid and min): at the largest number of keys, then the largest d, the fastest kernel and the fastest
 * of softmax of that grid.  ATTEST_BAD_INPUT: no such file. */
attest_status attest_order_cost(attest_orders *orders, const char *dir, attest_error *err);

#endif

/* order.c - lists, and the search for the smallest order; see order.h. */
#include "verify/order/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"
#include "kernels/problem/problem.h"
#include "reference/evidence/evidence.h"
#include "verify/order/order_private.h"

#define RANGE_MOST 1e6
#define RANGE_WORTH 1024 /* no order up to ATTEST_ORDER_MOST serves it, of any center and tolerance */

/* ---- lists ------------------------------------------------------------------------------------------------------- */
static const char *const centers[] = { "zero", "max", "min", "mid" };
static const uint32_t types[] = { ATTEST_BF16, ATTEST_F16, ATTEST_F32, ATTEST_F64 };

static attest_status take_range(attest_order_request *r, const char *item)
{
    char *end;
    const double x = strtod(item, &end);
    if (r->ranges == ATTEST_ORDER_LIST || *item == '\0' || *end != '\0' || !(x > 0) || !(x <= RANGE_MOST))
        return ATTEST_BAD_INPUT;
    r->range[r->ranges++] = x;
    return ATTEST_OK;
}

static attest_status take_center(attest_order_request *r, const char *item)
{
    for (size_t i = 0; i < r->centers; i++)
        if (strcmp(r->center[i], item) == 0)
            return ATTEST_BAD_INPUT;
    for (size_t i = 0; i < sizeof centers / sizeof centers[0]; i++)
        if (strcmp(centers[i], item) == 0) {
            r->center[r->centers++] = centers[i];
            return ATTEST_OK;
        }
    return ATTEST_BAD_INPUT;
}

static attest_status take_type(attest_order_request *r, const char *item)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(attest_dtype_name(types[i]), item) != 0)
            continue;
        for (size_t t = 0; t < r->types; t++)
            if (r->type[t] == types[i])
                return ATTEST_BAD_INPUT;
        r->type[r->types++] = types[i];
        return ATTEST_OK;
    }
    return ATTEST_BAD_INPUT;
}

attest_status attest_order_read(attest_order_request *request, const char *ranges, const char *center_list,
                                const char *type_list, attest_error *err)
{
    const struct {
        const char *option, *text, *allowed;
        attest_status (*take)(attest_order_request *, const char *);
    } lists[] = { { "range", ranges ? ranges : "1,2,4,8,16,32", "numbers above 0, at most 1e6: R or A,B,..",
                    take_range },
                  { "center", center_list ? center_list : "mid,min,max,zero",
                    "zero, max, min, mid, each once, separated by commas", take_center },
                  { "in", type_list ? type_list : "bf16,f16,f32", "f64, f32, f16, bf16, each once, separated by commas",
                    take_type } };
    *request = (attest_order_request){ .ranges = 0 };
    for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
        for (const char *at = lists[l].text;; at++) {
            char item[64];
            const size_t len = strcspn(at, ",");
            if (snprintf(item, sizeof item, "%.*s", (int)len, at) >= (int)sizeof item ||
                lists[l].take(request, item) != ATTEST_OK)
                return attest_fail(err, ATTEST_BAD_INPUT, "--%s=%.200s: %s", lists[l].option, lists[l].text,
                                   lists[l].allowed);
            at += len;
            if (*at == '\0')
                break;
        }
    return ATTEST_OK;
}

/* ---- tolerances -------------------------------------------------------------------------------------------------- */
enum { TOLERANCES = 3 + 4 };

typedef struct tolerances {
    double value[TOLERANCES];
    char own[TOLERANCES][32];
    size_t count;
} tolerances;

/* Coarsest first; those that are the rounding of a type asked for say which. */
static tolerances tolerances_of(const attest_order_request *request)
{
    static const double always[] = { 0x1p-8, 0x1p-11, 0x1p-24 };
    tolerances t = { .count = 0 };
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        t.value[t.count++] = always[i];
    for (size_t k = 0; k < request->types; k++) {
        const double u = attest_unit_roundoff(request->type[k]);
        size_t at = 0;
        while (at < t.count && t.value[at] != u)
            at++;
        if (at == t.count)
            t.value[t.count++] = u; /* f64, below the others */
        snprintf(t.own[at], sizeof t.own[at], "%s", attest_dtype_name(request->type[k]));
    }
    return t;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */
attest_status order_cells(attest_orders *orders, const attest_order_request *request, const char *head, double range,
                          const char *center, attest_error *err)
{
    attest_status status = ATTEST_OK;
    const tolerances t = tolerances_of(request);
    attest_span error, below = { NAN, NAN };
    /* Rows that span at most this much are among those that span more: from below, their error is the larger one's,
     * and balls of 8192 bits do not reach beyond some 5000. */
    const double asked = fmin(range, RANGE_WORTH);
    size_t done = 0; /* tolerances that an order was found for: larger orders for smaller ones */
    attest_order_cell cell = { .range = range, .at_hi = NAN };
    snprintf(cell.head, sizeof cell.head, "%s", head);
    snprintf(cell.center, sizeof cell.center, "%s", center);
    for (int p = 0; p <= ATTEST_ORDER_MOST && done < t.count; p++) {
        ATTEST_TRY(attest_evidence_weight_error(&error, p, center, asked, err));
        for (; done < t.count && !(error.lo > t.value[done]); done++) {
            if (!(error.hi <= t.value[done]) || asked < range)
                ATTEST_TRY(attest_fail(err, ATTEST_INTERNAL, "range %g, center %s: order %d is not decided", range,
                                       center, p));
            cell.tolerance = t.value[done];
            snprintf(cell.own, sizeof cell.own, "%s", t.own[done]);
            cell.order = p;
            cell.at_hi = error.hi;
            cell.below_lo = below.lo;
            ATTEST_TRY(attest_orders_add(orders, &cell, err));
        }
        below = error;
    }
    for (; done < t.count; done++) {
        cell.tolerance = t.value[done];
        snprintf(cell.own, sizeof cell.own, "%s", t.own[done]);
        cell.order = -1;
        cell.at_hi = NAN;
        cell.below_lo = below.lo;
        ATTEST_TRY(attest_orders_add(orders, &cell, err));
    }
out:
    return status;
}

attest_status attest_order_measure(attest_orders *orders, const attest_order_request *request, attest_error *err)
{
    attest_status status = ATTEST_OK;
    for (size_t r = 0; r < request->ranges; r++)
        for (size_t c = 0; c < request->centers; c++)
            ATTEST_TRY(order_cells(orders, request, "", request->range[r], request->center[c], err));
out:
    return status;
}

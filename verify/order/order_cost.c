/* order_cost.c - what study cost says of an order beside softmax. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "verify/order/order.h"

/* The variant that a study times for a center; mid and min have no preset. */
static const struct {
    const char *center, *preset;
} presets[] = { { "zero", "taylor" }, { "max", "shifted" } };

/* The longest grid point at which both have a time, of it the widest. */
typedef struct cost_search {
    const char *variant, *panel; /* panel NULL: any */
    int64_t n;                   /* 0: any */
    attest_result best;
    int found;
} cost_search;

static size_t panel_length(const char *series) { return strcspn(series, " "); }

static attest_status take(void *state, const attest_result *r, attest_error *err)
{
    cost_search *s = state;
    (void)err;
    if (strcmp(r->variant, s->variant) != 0 || !(r->ordinate > 0) || !isfinite(r->ordinate))
        return ATTEST_OK;
    if (s->panel && (panel_length(r->series) != panel_length(s->panel) ||
                     strncmp(r->series, s->panel, panel_length(r->series)) != 0 || r->n != s->n))
        return ATTEST_OK;
    const int64_t further = r->n != s->best.n ? r->n - s->best.n : r->d - s->best.d;
    if (!s->found || (!s->panel && further > 0) || (further == 0 && r->ordinate < s->best.ordinate)) {
        s->best = *r;
        s->found = 1;
    }
    return ATTEST_OK;
}

static attest_status note(attest_order_cell *cell, const attest_results *results, attest_error *err)
{
    attest_status status = ATTEST_OK;
    char variant[32];
    cost_search own = { .variant = variant }, softmax = { .variant = "softmax" };
    size_t n = 0;
    while (n < sizeof presets / sizeof presets[0] && strcmp(presets[n].center, cell->center) != 0)
        n++;
    if (n == sizeof presets / sizeof presets[0])
        return ATTEST_OK;
    snprintf(variant, sizeof variant, "%s:%lld", presets[n].preset, (long long)cell->order);
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, &own }, 1, err));
    if (!own.found)
        goto out;
    softmax.panel = own.best.series;
    softmax.n = own.best.n;
    ATTEST_TRY(attest_results_pass(results, &(attest_accumulator){ take, &softmax }, 1, err));
    if (!softmax.found)
        goto out;
    cell->cost_n = own.best.n;
    cell->cost_d = own.best.d;
    cell->cost = own.best.ordinate;
    cell->cost_softmax = softmax.best.ordinate;
    snprintf(cell->cost_kernel, sizeof cell->cost_kernel, "%.63s", own.best.kernel);
out:
    return status;
}

attest_status attest_order_cost(attest_orders *orders, const char *dir, attest_error *err)
{
    attest_status status = ATTEST_OK;
    attest_results results = { 0 };
    char path[4096];
    if (snprintf(path, sizeof path, "%s/study-cost.jsonl", dir) >= (int)sizeof path)
        return attest_fail(err, ATTEST_BAD_INPUT, "--cost: the path is too long");
    if (access(path, F_OK) != 0)
        return attest_fail(err, ATTEST_BAD_INPUT, "--cost: there is no %s (`attest study cost --out %s` writes it)",
                           path, dir);
    ATTEST_TRY(attest_results_open(&results, path, err));
    for (size_t i = 0; i < orders->count; i++)
        if (orders->cell[i].order >= 0)
            ATTEST_TRY(note(&orders->cell[i], &results, err));
out:
    attest_results_clear(&results);
    return status;
}

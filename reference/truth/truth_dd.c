/* truth_dd.c - a truth's elements from the dd engine: all of o and lse at once, on first use. */
#include <math.h>
#include <string.h>

#include "reference/truth/truth.h"

/* What the engine gives, and where the truth keeps it. */
static attest_enclosures *place(attest_truth *truth, attest_tensor_id id)
{
    if (id.kind != ATTEST_KIND_ROLE)
        return NULL;
    return id.index == ATTEST_O ? &truth->fast_o : id.index == ATTEST_LSE ? &truth->fast_lse : NULL;
}

attest_status ref_truth_enclosed(const attest_enclosures **e, attest_truth *truth, attest_tensor_id id, uint32_t tiers,
                                 attest_error *err)
{
    const attest_enclose_options options = { .tiers = tiers };
    attest_enclosures *found = place(truth, id);
    attest_status status = ATTEST_OK;
    char why[160];
    *e = NULL;
    if (!found || !attest_enclose_serves(truth->p, why, sizeof why))
        return ATTEST_OK;
    if (!found->count || truth->fast_tiers != tiers) {
        const attest_tensor_id sum = { ATTEST_KIND_ROLE, ATTEST_LSE };
        const int lse = attest_problem_has(truth->p, sum, why, sizeof why);
        ATTEST_TRY(
            attest_enclose(&truth->fast_o, lse ? &truth->fast_lse : NULL, truth->p, truth->bundle, &options, err));
        truth->fast_tiers = tiers;
    }
    *e = found->count ? found : NULL;
out:
    return status;
}

static void element_ball(arb_t x, const attest_enclosures *e, int64_t n)
{
    AUTO_ARF(part);
    arf_set_d(arb_midref(x), e->hi[n]);
    arf_set_d(part, e->lo[n]);
    arf_add(arb_midref(x), arb_midref(x), part, ARF_PREC_EXACT, ARF_RND_DOWN);
    mag_set_d(arb_radref(x), e->bound[n]); /* rounds up */
}

attest_status ref_view_fill_dd(ref_view *view, int *served, attest_truth *truth, attest_error *err)
{
    const attest_problem *p = truth->p;
    const attest_enclosures *e;
    const int64_t at = ((view->b * p->hq + view->h) * p->n + view->i) * view->count;
    attest_status status;
    *served = 0;
    ATTEST_TRY(ref_truth_enclosed(&e, truth, view->id, ATTEST_TIERS_NONE, err));
    for (int64_t c = 0; e && c < view->count; c++)
        if (!isfinite(e->bound[at + c]))
            return ATTEST_OK;
    if (!e)
        return ATTEST_OK;
    *served = 1;
    view->engine = ATTEST_ENGINE_DD;
    view->prec = REF_DD_BITS;
    view->minus_infinity = isinf(e->hi[at]) != 0;
    for (int64_t c = 0; c < view->count; c++)
        mag_zero(view->abs_scale + c);
    for (int64_t c = 0; !view->minus_infinity && c < view->count; c++)
        element_ball(view->ball + c, e, at + c);
out:
    return status;
}

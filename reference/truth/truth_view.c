/* truth_view.c - the elements of one row or one state as balls or rationals, from any engine. */
#include "reference/truth/truth.h"

#include <stdlib.h>
#include <string.h>

static int is_state(attest_tensor_id id) { return id.kind != ATTEST_KIND_ROLE; }

int64_t ref_view_total(const attest_truth *truth, attest_tensor_id id)
{
    const attest_problem *p = truth->p;
    return is_state(id) ? p->b * p->hkv : p->b * p->hq * p->n;
}

static void free_rationals(ref_view *view)
{
    for (int64_t c = 0; view->rational && c < view->count; c++)
        mpq_clear(view->rational[c]);
    free(view->rational);
    view->rational = NULL;
}

static attest_status no_memory(attest_error *err, int64_t count)
{
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld values", (long long)count);
}

attest_status ref_view_init(ref_view *view, const attest_truth *truth, attest_tensor_id id, attest_error *err)
{
    attest_tensor t;
    memset(view, 0, sizeof *view);
    attest_tensor_describe(&t, truth->p, id, 0);
    view->id = id;
    view->count = attest_tensor_count(&t) / ref_view_total(truth, id);
    view->ball = ref_ball_vector(view->count);
    view->abs_scale = calloc((size_t)view->count, sizeof *view->abs_scale);
    if (!view->ball || !view->abs_scale) {
        const int64_t count = view->count;
        ref_view_clear(view);
        return no_memory(err, count);
    }
    return ATTEST_OK;
}

void ref_view_clear(ref_view *view)
{
    free_rationals(view);
    ref_ball_vector_free(view->ball, view->count);
    for (int64_t c = 0; view->abs_scale && c < view->count; c++)
        mag_clear(view->abs_scale + c);
    free(view->abs_scale);
    memset(view, 0, sizeof *view);
}

void ref_view_seek(ref_view *view, const attest_truth *truth, int64_t number)
{
    const attest_problem *p = truth->p;
    const int64_t rows = is_state(view->id) ? 1 : p->n, heads = is_state(view->id) ? p->hkv : p->hq;
    view->i = number % rows;
    view->h = number / rows % heads;
    view->b = number / rows / heads;
}

static attest_status make_rationals(ref_view *view, attest_error *err)
{
    view->rational = calloc((size_t)view->count, sizeof *view->rational);
    if (!view->rational)
        return no_memory(err, view->count);
    for (int64_t c = 0; c < view->count; c++)
        mpq_init(view->rational[c]);
    return ATTEST_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */
static void row_balls(ref_view *view, const ref_row *row)
{
    const uint32_t role = view->id.index;
    arb_srcptr from = role == ATTEST_O ? row->o : role == ATTEST_U ? row->u : role == ATTEST_LSE ? row->lse : row->z;
    for (int64_t c = 0; c < view->count; c++)
        arb_set(view->ball + c, from + c);
}

static attest_status row_rationals(ref_view *view, const ref_row *row, attest_error *err)
{
    const uint32_t role = view->id.index;
    attest_status status = make_rationals(view, err);
    for (int64_t c = 0; status == ATTEST_OK && c < view->count; c++)
        mpq_set(view->rational[c], role == ATTEST_O ? row->oq[c] : role == ATTEST_U ? row->uq[c] : row->zq);
    return status;
}

static attest_status fill_row(ref_view *view, attest_truth *truth, slong prec, attest_error *err)
{
    const int o = view->id.index == ATTEST_O, lse = view->id.index == ATTEST_LSE;
    attest_status status;
    ref_row *row;
    ATTEST_TRY(ref_truth_row(&row, truth, (attest_row){ view->b, view->h, view->i }, prec, err));
    view->engine = row->engine;
    view->prec = row->prec;
    view->open = !row->no_truth && ((o && row->illposed && !row->rational) || (lse && row->lse_open));
    view->missing = row->no_truth || (o && row->illposed) || (lse && (row->lse_absent || row->lse_open));
    view->minus_infinity = lse && row->empty && !view->missing;
    if (view->missing || view->minus_infinity)
        return ATTEST_OK;
    row_balls(view, row);
    if (row->rational && !lse)
        ATTEST_TRY(row_rationals(view, row, err));
    if (view->want_abs_scale)
        ATTEST_TRY(ref_abs_scale_row(view->abs_scale, row, &truth->in, view->id,
                                     (attest_row){ view->b, view->h, view->i }, err));
out:
    return status;
}

/* ---- states ------------------------------------------------------------------------------------------------------ */
static attest_status fill_state(ref_view *view, attest_truth *truth, slong prec, attest_error *err)
{
    const int degree = (int)view->id.index, z_state = view->id.kind == ATTEST_KIND_ZT;
    const int exact = truth->engine != ATTEST_ENGINE_BALL && truth->engine != ATTEST_ENGINE_DD &&
                      ref_exact_state_serves(&truth->in, view->b, view->h, degree);
    attest_status status;
    view->engine = exact ? ATTEST_ENGINE_EXACT : ATTEST_ENGINE_BALL;
    view->prec = prec;
    if (!exact && truth->engine == ATTEST_ENGINE_EXACT)
        return attest_fail(err, ATTEST_BAD_INPUT,
                           "engine=exact does not serve the state of KV head [%lld,%lld]; "
                           "allowed are auto, ball, witness",
                           (long long)view->b, (long long)view->h);
    if (exact) {
        ATTEST_TRY(make_rationals(view, err));
        ATTEST_TRY(ref_exact_state(view->rational, &truth->in, view->b, view->h, degree, z_state, err));
        return ATTEST_OK;
    }
    ATTEST_TRY(ref_ball_state(view->ball, view->abs_scale, &truth->in, view->b, view->h, degree, z_state, prec, err));
out:
    return status;
}

/* ---- the witness ------------------------------------------------------------------------------------------------- */
void ref_witness_ball(arb_t ball, const mpfr_t value, const mpfr_t error)
{
    AUTO_ARF(radius);
    arb_zero(ball);
    arf_set_mpfr(arb_midref(ball), value);
    arf_set_mpfr(radius, error);
    if (mpfr_number_p(value) && mpfr_number_p(error))
        arb_add_error_arf(ball, radius);
    else
        arb_indeterminate(ball);
}

static void witness_elements(ref_view *view, const ref_witness *w)
{
    const uint32_t role = view->id.index;
    const int o = role == ATTEST_O, lse = role == ATTEST_LSE;
    view->open = !w->no_truth && o && w->illposed;
    view->missing = w->no_truth || (o && w->illposed) || (lse && w->lse_absent);
    view->minus_infinity = lse && w->empty && !view->missing;
    for (int64_t c = 0; c < view->count && !view->missing && !view->minus_infinity; c++) {
        if (o)
            ref_witness_ball(view->ball + c, w->o[c], w->o_error[c]);
        else if (role == ATTEST_U)
            ref_witness_ball(view->ball + c, w->u[c], w->u_error[c]);
        else if (lse)
            ref_witness_ball(view->ball + c, w->lse, w->lse_error);
        else
            ref_witness_ball(view->ball + c, w->z, w->z_error);
    }
}

static attest_status fill_witness_row(ref_view *view, attest_truth *truth, slong prec, attest_error *err)
{
    attest_status status;
    ref_witness w;
    ref_row *row;
    ref_witness_init(&w);
    ATTEST_TRY(ref_witness_row(&w, truth->p, truth->bundle, (attest_row){ view->b, view->h, view->i }, prec, err));
    witness_elements(view, &w);
    if (view->want_abs_scale &&
        !view->missing) { /* the abs_scale only ends the precision loop: the ball row's will do */
        ATTEST_TRY(ref_truth_row(&row, truth, (attest_row){ view->b, view->h, view->i }, ATTEST_PRECISION_START, err));
        ATTEST_TRY(ref_abs_scale_row(view->abs_scale, row, &truth->in, view->id,
                                     (attest_row){ view->b, view->h, view->i }, err));
    }
out:
    ref_witness_clear(&w);
    return status;
}

static attest_status fill_witness_state(ref_view *view, attest_truth *truth, slong prec, attest_error *err)
{
    const int degree = (int)view->id.index, z_state = view->id.kind == ATTEST_KIND_ZT;
    mpfr_t *numbers = calloc((size_t)(2 * view->count), sizeof *numbers);
    attest_status status;
    if (!numbers)
        return no_memory(err, view->count);
    for (int64_t c = 0; c < 2 * view->count; c++)
        mpfr_init2(numbers[c], c < view->count ? prec : 64);
    ATTEST_TRY(ref_ball_state(view->ball, view->abs_scale, &truth->in, view->b, view->h, degree, z_state,
                              ATTEST_PRECISION_START, err)); /* for its abs_scale */
    ATTEST_TRY(ref_witness_state(numbers, numbers + view->count, truth->p, truth->bundle, view->b, view->h, degree,
                                 z_state, prec, err));
    for (int64_t c = 0; c < view->count; c++)
        ref_witness_ball(view->ball + c, numbers[c], numbers[view->count + c]);
out:
    for (int64_t c = 0; c < 2 * view->count; c++)
        mpfr_clear(numbers[c]);
    free(numbers);
    return status;
}

attest_status ref_view_fill(ref_view *view, attest_truth *truth, slong prec, attest_error *err)
{
    free_rationals(view);
    view->open = view->missing = view->minus_infinity = 0;
    view->engine = truth->engine;
    view->prec = prec;
    if (truth->engine == ATTEST_ENGINE_DD) {
        int served;
        const attest_status status = ref_view_fill_dd(view, &served, truth, err);
        if (served || status != ATTEST_OK)
            return status;
    }
    if (truth->engine == ATTEST_ENGINE_WITNESS)
        return is_state(view->id) ? fill_witness_state(view, truth, prec, err)
                                  : fill_witness_row(view, truth, prec, err);
    return is_state(view->id) ? fill_state(view, truth, prec, err) : fill_row(view, truth, prec, err);
}

int ref_rational_of(mpq_t q, const arf_t x, slong limit)
{
    AUTO_FMPZ(mantissa, exponent);
    int fits = arf_is_finite(x) != 0;
    if (fits)
        arf_get_fmpz_2exp(mantissa, exponent, x);
    fits = fits && fmpz_cmp_si(exponent, -limit) > 0 && fmpz_cmp_si(exponent, limit) < 0;
    if (fits) {
        const slong e = fmpz_get_si(exponent);
        fmpz_get_mpz(mpq_numref(q), mantissa);
        mpz_set_ui(mpq_denref(q), 1);
        if (e < 0)
            mpq_div_2exp(q, q, (mp_bitcnt_t)-e); /* keeps lowest terms */
        else
            mpq_mul_2exp(q, q, (mp_bitcnt_t)e);
    }
    return fits;
}

/* rounded.c - correctly rounded tensors: one rounding from the truth to the asked format.
 *
 * First the dd engine's enclosures, where it serves.  For what they leave open, balls at 128, 256, 512 bits; what is
 * then still open is a rounding boundary to 2^-500 or so, and the tie lemma (R-TIE) says whether it is one exactly;
 * otherwise the precision goes on doubling, to the cap.
 */
#include "reference/truth/truth.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/attest_float.h"

enum { TIE_BITS = 512, LARGE_EXPONENT = 8192 };

typedef struct rounding_job {
    attest_truth *truth;
    ref_view view;
    uint32_t dtype;
    uint64_t *bits;
    unsigned char *done;
    const attest_enclosures *enclosed; /* NULL: the dd engine does not serve */
    attest_rounding_counts *counts;
} rounding_job;

static const uint64_t f64_nan = 0x7ff8000000000000u, f64_minus_infinity = 0xfff0000000000000u;

/* ---- boundaries -------------------------------------------------------------------------------------------------- */
/* q = one end of the ball; 0 if its exponent is far outside every format. */
static int end_of(mpq_t q, const arb_t x, int upper)
{
    AUTO_ARF(end, radius);
    int fits;
    arf_set_mag(radius, arb_radref(x));
    if (upper)
        arf_add(end, arb_midref(x), radius, 2 * LARGE_EXPONENT, ARF_RND_CEIL);
    else
        arf_sub(end, arb_midref(x), radius, 2 * LARGE_EXPONENT, ARF_RND_FLOOR);
    fits = ref_rational_of(q, end, LARGE_EXPONENT);
    return fits;
}

/* The stored number as a rational; an infinity as 2^(emax+1), the next step of the last binade. */
static void value_of(mpq_t q, uint64_t bits, uint32_t dtype)
{
    const attest_format f = attest_format_of(dtype);
    const double x = attest_to_f64(dtype, bits);
    if ((attest_f64_bits(x) & ~(1ull << 63)) != 0x7ff0000000000000u) {
        mpq_set_d(q, x); /* exact */
        return;
    }
    mpq_set_si(q, attest_f64_bits(x) >> 63 ? -1 : 1, 1);
    mpq_mul_2exp(q, q, (mp_bitcnt_t)(f.emax + 1));
}

static int inside(const mpq_t q, const arb_t x)
{
    AUTO_FMPQ(f);
    int yes;
    fmpq_set_mpq(f, q);
    yes = arb_contains_fmpq(x, f) != 0;
    return yes;
}

/* The number where the nearest value changes inside the ball: 0 between zeros of either sign, else the middle
 * of two neighbours.  0 if the ball holds no such number, or more than one. */
static int boundary(mpq_t q, const arb_t x, uint32_t dtype)
{
    AUTO_MPQ(low, high);
    int found;
    if (!arb_is_finite(x))
        return 0;
    found = end_of(low, x, 0) && end_of(high, x, 1);
    if (found) {
        value_of(low, ref_round_rational(low, dtype), dtype);
        value_of(high, ref_round_rational(high, dtype), dtype);
        mpq_add(q, low, high);
        mpq_div_2exp(q, q, 1);
        found = inside(q, x);
    }
    return found;
}

/* ---- ties -------------------------------------------------------------------------------------------------------- */
/* lse of exp without a decay is rational only over one key, where it is that key's score (R-TIE): 1 if it is the
 * candidate, 0 if it is not, or the score is not exact at this precision. */
static int tie_of_lse(rounding_job *job, const mpq_t candidate)
{
    attest_error err;
    ref_row *row;
    const ref_view *v = &job->view;
    AUTO_FMPQ(f);
    int equal = 0;
    if (attest_axis_value_of(job->truth->p, ATTEST_AXIS_WEIGHT) != ATTEST_WEIGHT_EXP ||
        attest_axis_value_of(job->truth->p, ATTEST_AXIS_DECAY) != ATTEST_DECAY_NONE ||
        ref_truth_row(&row, job->truth, (attest_row){ v->b, v->h, v->i }, TIE_BITS, &err) != ATTEST_OK)
        return 0;
    fmpq_set_mpq(f, candidate);
    if (row->keys == 1 && arb_is_exact(row->s))
        equal = arb_contains_fmpq(row->s, f) != 0;
    return equal;
}

static int tie(rounding_job *job, int64_t c, const mpq_t candidate)
{
    const ref_view *v = &job->view;
    const int plain = axis_norm_of(job->truth->p)->kind == AXIS_NORM_PLAIN;
    if (v->id.kind != ATTEST_KIND_ROLE)
        return -1;
    if (v->id.index == ATTEST_LSE)
        return tie_of_lse(job, candidate);
    if (v->id.index == ATTEST_O || (v->id.index == ATTEST_U && plain)) /* norm=none: o = u */
        return ref_tie(&job->truth->in, (attest_row){ v->b, v->h, v->i }, c, candidate);
    return -1;
}

static int round_by_tie(rounding_job *job, int64_t c)
{
    AUTO_MPQ(candidate);
    int yes;
    yes = boundary(candidate, job->view.ball + c, job->dtype) && tie(job, c, candidate) == 1;
    if (yes)
        job->bits[c] = ref_round_rational(candidate, job->dtype);
    return yes;
}

/* The same for a ball that is one point on a boundary: Arb's operations happened to be exact, but what proves the
 * equality is the lemma.  1 if it does. */
static int point_by_tie(rounding_job *job, int64_t c)
{
    AUTO_MPQ(candidate);
    int yes;
    yes = ref_rational_of(candidate, arb_midref(job->view.ball + c), LARGE_EXPONENT) && tie(job, c, candidate) == 1;
    return yes;
}

/* 1 if the ball is one point and that point is a midpoint of two neighbours: no wider ball would decide. */
static int on_boundary(const arb_t x, uint32_t dtype)
{
    AUTO_ARB(wide);
    AUTO_MAG(radius);
    uint64_t bits;
    int open;
    if (!arb_is_exact(x) || arb_is_zero(x))
        return 0;
    arb_set(wide, x);
    arb_get_mag(radius, x);
    mag_mul_2exp_si(radius, radius, -TIE_BITS);
    arb_add_error_mag(wide, radius);
    open = !ref_round_ball(&bits, wide, dtype);
    return open;
}

/* ---- one view ---------------------------------------------------------------------------------------------------- */
/* Tries element c at the view's precision; 1 when it is settled. */
static int settle(rounding_job *job, int64_t c, slong prec)
{
    const ref_view *v = &job->view;
    const int non_finite = !v->rational && !v->minus_infinity && !v->missing && !arb_is_finite(v->ball + c);
    if (v->missing || (non_finite && v->id.kind != ATTEST_KIND_ROLE)) {
        job->bits[c] = attest_from_f64(job->dtype, attest_bits_f64(f64_nan));
        job->counts->no_truth += !v->open;
        return !v->open;
    }
    if (v->minus_infinity)
        job->bits[c] = attest_from_f64(job->dtype, attest_bits_f64(f64_minus_infinity));
    else if (v->rational)
        job->bits[c] = ref_round_rational(v->rational[c], job->dtype);
    else if (!ref_round_ball(&job->bits[c], v->ball + c, job->dtype)) {
        job->counts->open_at_ball += prec == TIE_BITS;
        if (prec != TIE_BITS || !round_by_tie(job, c))
            return 0;
        job->counts->by_tie++;
        return 1;
    } else if (on_boundary(v->ball + c, job->dtype) && point_by_tie(job, c)) {
        job->counts->open_at_ball++;
        job->counts->by_tie++;
        return 1;
    }
    job->counts->by_enclosure++;
    return 1;
}

/* What the cap leaves: NaN where the divisor or z may still be 0, the midpoint's value elsewhere. */
static void give_up(rounding_job *job, int64_t c)
{
    AUTO_ARB(middle);
    if (job->view.missing) {
        job->counts->no_truth++;
        return;
    }
    job->counts->at_cap++;
    arb_get_mid_arb(middle, job->view.ball + c);
    if (!ref_round_ball(&job->bits[c], middle, job->dtype))
        job->bits[c] = attest_from_f64(job->dtype, attest_bits_f64(f64_nan));
}

/* What the dd engine's enclosures decide of the view that starts at element `first`; the number left open. */
static int64_t round_enclosed(rounding_job *job, int64_t first)
{
    int64_t open = job->view.count;
    memset(job->done, 0, (size_t)job->view.count);
    for (int64_t c = 0; job->enclosed && c < job->view.count; c++)
        if (attest_enclosure_round(&job->bits[c], job->enclosed, first + c, job->dtype)) {
            job->done[c] = 1;
            job->counts->by_enclosure++;
            open--;
        }
    return open;
}

static attest_status round_view(rounding_job *job, int64_t number, attest_error *err)
{
    attest_status status = ATTEST_OK;
    int64_t open = round_enclosed(job, number * job->view.count);
    for (slong prec = ATTEST_PRECISION_START; open && prec <= ATTEST_PRECISION_CAP; prec *= 2) {
        ATTEST_TRY(ref_view_fill(&job->view, job->truth, prec, err));
        for (int64_t c = 0; c < job->view.count; c++) {
            if (!job->done[c] && settle(job, c, prec)) {
                job->done[c] = 1;
                open--;
            }
        }
    }
    for (int64_t c = 0; open && c < job->view.count; c++)
        if (!job->done[c])
            give_up(job, c);
out:
    return status;
}

static void set_dtype(attest_tensor *t, uint32_t dtype)
{
    t->dtype = dtype;
    t->code = dtype == ATTEST_BF16 ? ATTEST_CODE_BFLOAT : ATTEST_CODE_FLOAT;
    t->bits = (uint8_t)(8 * attest_dtype_bytes(dtype));
}

attest_status attest_truth_rounded(attest_tensor *out, attest_truth *truth, attest_tensor_id id, uint32_t dtype,
                                   attest_rounding_counts *counts, attest_error *err)
{
    rounding_job job = { .truth = truth, .dtype = dtype, .counts = counts };
    attest_status status;
    char why[160];
    memset(out, 0, sizeof *out);
    if (dtype > ATTEST_BF16)
        return attest_fail(err, ATTEST_BAD_INPUT, "rounding: allowed are f32, f64, f16, bf16");
    if (!attest_problem_has(truth->p, id, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (truth->engine == ATTEST_ENGINE_AUTO || truth->engine == ATTEST_ENGINE_DD)
        ATTEST_TRY(ref_truth_enclosed(&job.enclosed, truth, id, ATTEST_TIERS_PROVED, err));
    ATTEST_TRY(ref_view_init(&job.view, truth, id, err));
    attest_tensor_describe(out, truth->p, id, 0);
    set_dtype(out, dtype);
    out->data = calloc((size_t)attest_tensor_count(out), attest_dtype_bytes(dtype));
    job.bits = calloc((size_t)job.view.count, sizeof *job.bits);
    job.done = calloc((size_t)job.view.count, 1);
    if (!out->data || !job.bits || !job.done) {
        status = attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a rounded tensor");
        goto out;
    }
    for (int64_t number = 0; number < ref_view_total(truth, id); number++) {
        ref_view_seek(&job.view, truth, number);
        ATTEST_TRY(round_view(&job, number, err));
        for (int64_t c = 0; c < job.view.count; c++)
            attest_store_bits(out, number * job.view.count + c, job.bits[c]);
    }
out:
    ref_view_clear(&job.view);
    free(job.bits);
    free(job.done);
    if (status != ATTEST_OK) {
        free(out->data);
        memset(out, 0, sizeof *out);
    }
    return status;
}

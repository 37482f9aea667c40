/* decimals.c - the text output: decimals whose stated radius really bounds the distance to the truth.
 *
 * A decimal is printed from the midpoint, parsed back, and its radius is an upper bound of |decimal - truth|
 * over the whole enclosure, itself printed upward (R-DECIMAL).  So the printing's own error is in the radius.
 */
#include "reference/truth/truth.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 2000, RADIUS_DIGITS = 3, GUARD = 64 };

/* ---- numbers to text --------------------------------------------------------------------------------------------- */
/* x (exact) to `digits` significant digits; malloc'd, NULL without memory. */
static char *decimal_text(const arb_t x, int digits)
{
    char *text = arb_get_str(x, digits, ARB_STR_NO_RADIUS), *copy = strdup(text);
    flint_free(text);
    return copy;
}

/* A short decimal >= r: three digits to nearest, and if that fell below, of a number a little larger. */
static char *radius_text(const mag_t r)
{
    AUTO_ARB(x, back, bound);
    char *text = NULL;
    if (mag_is_inf(r))
        return strdup("inf");
    arf_set_mag(arb_midref(bound), r);
    arb_set(x, bound);
    for (int enough = 0; !enough;) {
        free(text);
        text = decimal_text(x, RADIUS_DIGITS);
        if (!text)
            break;
        arb_set_str(back, text, 2 * GUARD);
        enough = arb_ge(back, bound) != 0;
        arb_mul_ui(x, x, 1003, 2 * GUARD); /* x 1.003: up to half a unit of the last of three digits is 0.5 % */
        arb_div_ui(x, x, 1000, 2 * GUARD);
        mag_zero(arb_radref(x));
    }
    return text;
}

/* q = the number that decimal text `d.ddde+x` means, exactly. */
static void rational_of_text(mpq_t q, const char *text)
{
    char *digits = flint_malloc(strlen(text) + 1); /* never NULL */
    const char *mark = strchr(text, 'e');
    long exponent = mark ? strtol(mark + 1, NULL, 10) : 0, after_point = -1;
    size_t used = 0;
    AUTO_MPZ(power);
    for (const char *at = text; *at && *at != 'e'; at++) {
        if (after_point >= 0 && *at != '.')
            after_point++;
        if (*at == '.')
            after_point = 0;
        else
            digits[used++] = *at;
    }
    digits[used] = 0;
    if (after_point > 0)
        exponent -= after_point;
    mpq_set_ui(q, 0, 1);
    mpz_set_str(mpq_numref(q), digits, 10);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(exponent));
    mpz_mul(exponent < 0 ? mpq_denref(q) : mpq_numref(q), exponent < 0 ? mpq_denref(q) : mpq_numref(q), power);
    mpq_canonicalize(q);
    flint_free(digits);
}

/* Without the zeros that an exact decimal does not need. */
static void strip_zeros(char *text)
{
    char *point = strchr(text, '.'), *end = text + strcspn(text, "e"), *last = end;
    if (!point || point > end)
        return;
    while (last[-1] == '0')
        last--;
    if (last[-1] == '.')
        last--;
    memmove(last, end, strlen(end) + 1);
}

/* ---- one element ------------------------------------------------------------------------------------------------- */
typedef struct printed {
    char *mid, *rad, *exact;
} printed;

/* rad = upper bound of |text - truth| for truth in the ball; the parsed text is itself a ball. */
static void print_radius(printed *out, const arb_t truth, slong prec, int digits)
{
    AUTO_ARB(back);
    AUTO_MAG(r);
    prec += 4 * digits + GUARD;
    arb_set_str(back, out->mid, prec);
    arb_sub(back, truth, back, prec);
    arb_get_mag(r, back);
    out->rad = radius_text(r);
}

static void print_rational(printed *out, const mpq_t q, int digits)
{
    const slong prec = 4 * digits + GUARD;
    AUTO_FMPQ(f);
    AUTO_MPQ(back);
    AUTO_ARB(truth, middle);
    fmpq_set_mpq(f, q);
    arb_set_fmpq(truth, f, prec);
    arb_get_mid_arb(middle, truth);
    out->mid = decimal_text(middle, digits);
    if (out->mid)
        rational_of_text(back, out->mid);
    if (out->mid && mpq_equal(back, q)) {
        strip_zeros(out->mid);
        out->rad = strdup("0");
    } else if (out->mid) {
        print_radius(out, truth, prec, digits);
    }
}

static void print_ball(printed *out, const arb_t x, slong prec, int digits)
{
    AUTO_ARB(middle);
    AUTO_MPQ(q);
    if (arb_is_exact(x) && ref_rational_of(q, arb_midref(x), 4096)) { /* its decimal may be exact */
        print_rational(out, q, digits);
    } else {
        arb_get_mid_arb(middle, x);
        out->mid = decimal_text(middle, digits);
        if (out->mid)
            print_radius(out, x, prec, digits);
    }
}

static attest_status print_element(printed *out, int *rational, const ref_view *view, int64_t c, int digits,
                                   attest_error *err)
{
    memset(out, 0, sizeof *out);
    *rational = 1;
    if (view->missing)
        return ATTEST_OK;
    if (view->rational) {
        mpq_canonicalize(view->rational[c]);
        print_rational(out, view->rational[c], digits);
        out->exact = mpq_get_str(NULL, 10, view->rational[c]);
    } else {
        *rational = 0;
        if (!view->minus_infinity && !arb_is_finite(view->ball + c))
            return ATTEST_OK;
        if (view->minus_infinity) {
            out->mid = strdup("-inf");
            out->rad = strdup("0");
        } else {
            print_ball(out, view->ball + c, view->prec, digits);
        }
    }
    if (out->mid && out->rad)
        return ATTEST_OK;
    return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for a decimal");
}

/* ---- the precision loop ------------------------------------------------------------------------------------------ */
/* rad <= max(10^-digits |mid|, 2^-100 abs_scale): the radius as it is, the right side rounded down but for the
 * abs_scale, which is an upper bound by definition. */
static int near_enough(const ref_view *view, int64_t c, const mag_t unit)
{
    AUTO_MAG(target, abs_scale);
    int yes;
    arf_get_mag_lower(target, arb_midref(view->ball + c));
    mag_mul_lower(target, target, unit);
    mag_mul_2exp_si(abs_scale, view->abs_scale + c, -100);
    yes = mag_cmp(arb_radref(view->ball + c), target) <= 0 || mag_cmp(arb_radref(view->ball + c), abs_scale) <= 0;
    return yes;
}

/* Elements that a higher precision would improve. */
static int64_t count_open(const ref_view *view, const mag_t unit)
{
    int64_t open = 0;
    if (view->open)
        return view->count;
    if (view->missing || view->minus_infinity || view->rational)
        return 0;
    for (int64_t c = 0; c < view->count; c++) {
        const int finite = arb_is_finite(view->ball + c);
        if (finite ? !near_enough(view, c, unit) : view->id.kind == ATTEST_KIND_ROLE)
            open++; /* in a state only a non-finite input makes an element non-finite: no truth, never open */
    }
    return open;
}

typedef struct decimals_job {
    attest_decimals *out;
    attest_truth *truth;
    int digits;
    slong prec; /* 0: loop */
    mag_t unit; /* 10^-digits, rounded down */
    int64_t rationals, irrationals;
} decimals_job;

static attest_status print_view(decimals_job *job, ref_view *view, int64_t number, attest_error *err)
{
    attest_decimals *out = job->out;
    attest_status status;
    int64_t open;
    for (slong prec = job->prec ? job->prec : ATTEST_PRECISION_START;; prec *= 2) {
        ATTEST_TRY(ref_view_fill(view, job->truth, prec, err));
        open = count_open(view, job->unit);
        if (open == 0 || job->prec || view->engine == ATTEST_ENGINE_DD || 2 * prec > ATTEST_PRECISION_CAP)
            break;
    }
    out->undecided += open;
    if (out->bits < view->prec)
        out->bits = view->prec;
    out->engine = number && out->engine != view->engine ? ATTEST_ENGINE_MIXED : view->engine;
    for (int64_t c = 0; c < view->count; c++) {
        const int64_t at = number * view->count + c;
        printed text;
        int rational;
        status = print_element(&text, &rational, view, c, job->digits, err);
        out->mid[at] = text.mid;
        out->rad[at] = text.rad;
        out->exact[at] = text.exact;
        job->rationals += text.exact != NULL;
        job->irrationals += !rational;
        if (status != ATTEST_OK)
            goto out;
    }
out:
    return status;
}

static void free_texts(char **texts, int64_t count)
{
    for (int64_t t = 0; texts && t < count; t++)
        free(texts[t]);
    free(texts);
}

void attest_decimals_free(attest_decimals *d)
{
    if (!d)
        return;
    free_texts(d->mid, d->count);
    free_texts(d->rad, d->count);
    free_texts(d->exact, d->count);
    memset(d, 0, sizeof *d);
}

static attest_status reserve(attest_decimals *out, const attest_problem *p, attest_tensor_id id, attest_error *err)
{
    attest_tensor t;
    attest_tensor_describe(&t, p, id, 0);
    out->count = attest_tensor_count(&t);
    out->rank = t.rank;
    memcpy(out->shape, t.shape, sizeof out->shape);
    out->mid = calloc((size_t)out->count, sizeof *out->mid);
    out->rad = calloc((size_t)out->count, sizeof *out->rad);
    out->exact = calloc((size_t)out->count, sizeof *out->exact);
    if (!out->mid || !out->rad || !out->exact)
        return attest_fail(err, ATTEST_NO_MEMORY, "reference: no memory for %lld decimals", (long long)out->count);
    return ATTEST_OK;
}

static attest_status check_request(const attest_problem *p, attest_tensor_id id, int digits, long prec, uint32_t engine,
                                   attest_error *err)
{
    char why[160];
    if (!attest_problem_has(p, id, why, sizeof why))
        return attest_fail(err, ATTEST_BAD_INPUT, "%s", why);
    if (digits < 1 || digits > MAX_DIGITS)
        return attest_fail(err, ATTEST_BAD_INPUT, "digits=%d: allowed are 1 to %d", digits, MAX_DIGITS);
    if (prec > 0 && engine == ATTEST_ENGINE_DD)
        return attest_fail(err, ATTEST_BAD_INPUT, "prec=%ld: engine dd has one precision, %d bits", prec, REF_DD_BITS);
    if (prec < 0 || (prec > 0 && prec < 16) || prec > ATTEST_PRECISION_CAP)
        return attest_fail(err, ATTEST_BAD_INPUT, "prec=%ld: allowed are 16 to %d bits", prec, ATTEST_PRECISION_CAP);
    return ATTEST_OK;
}

attest_status attest_truth_decimals(attest_decimals *out, attest_truth *truth, attest_tensor_id id, int digits,
                                    long prec, attest_error *err)
{
    decimals_job job = { .out = out, .truth = truth, .digits = digits, .prec = prec };
    const int64_t total = ref_view_total(truth, id);
    attest_status status;
    ref_view view;
    AUTO_ARB(ten);
    memset(out, 0, sizeof *out);
    memset(&view, 0, sizeof view);
    mag_init(job.unit);
    ATTEST_TRY(check_request(truth->p, id, digits, prec, truth->engine, err));
    arb_set_ui(ten, 10);
    arb_pow_ui(ten, ten, (ulong)digits, GUARD);
    arb_inv(ten, ten, GUARD);
    arb_get_mag_lower(job.unit, ten);
    ATTEST_TRY(reserve(out, truth->p, id, err));
    ATTEST_TRY(ref_view_init(&view, truth, id, err));
    view.want_abs_scale = prec == 0;
    for (int64_t number = 0; number < total; number++) {
        ref_view_seek(&view, truth, number);
        ATTEST_TRY(print_view(&job, &view, number, err));
    }
    if (job.irrationals || !job.rationals) {
        free_texts(out->exact, out->count);
        out->exact = NULL;
    }
out:
    ref_view_clear(&view);
    mag_clear(job.unit);
    if (status != ATTEST_OK)
        attest_decimals_free(out);
    return status;
}

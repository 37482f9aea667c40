/* bound_exp.c - errors of exponential weights (R-EXP, R-ONLINE, R-MERGE, R-SINK). */
#include "reference/bound/bound.h"

/* e^x - 1 <= x + x^2 for x <= 1, cheaper than mag_expm1 and as good where x is small. */
static void expm1_upper(mag_t y, const mag_t x)
{
    if (mag_cmp_2exp_si(x, -8) < 0) {
        mag_t t;
        mag_init(t);
        mag_mul(t, x, x);
        mag_add(y, x, t);
        mag_clear(t);
    } else {
        mag_expm1(y, x);
    }
}

/* What is the same for all keys of the row. */
typedef struct exp_job {
    arb_t top, limit; /* limit: upper bound of the scores; top: of scores and sink */
    mag_t kappa;      /* relative error of an exponent */
    mag_t fixed;      /* absolute error of every exponent */
    mag_t alone;      /* the part of it that is the weight's own (R-COMMON) */
    mag_t growth;     /* relative error of all exponentials that multiply a weight */
    mag_t own;        /* the part of it that is the weight's own exponential (R-COMMON) */
    mag_t tiny;       /* absolute error of a weight */
} exp_job;

static void job_init(exp_job *e)
{
    arb_init(e->top);
    arb_init(e->limit);
    mag_init(e->kappa);
    mag_init(e->fixed);
    mag_init(e->alone);
    mag_init(e->growth);
    mag_init(e->own);
    mag_init(e->tiny);
}

static void job_clear(exp_job *e)
{
    arb_clear(e->top);
    arb_clear(e->limit);
    mag_clear(e->kappa);
    mag_clear(e->fixed);
    mag_clear(e->alone);
    mag_clear(e->growth);
    mag_clear(e->own);
    mag_clear(e->tiny);
}

static void set_top(exp_job *e, bound_weights *w, const ref_row *row, const ref_inputs *in, int64_t h)
{
    AUTO_ARF(x);
    arf_neg_inf(arb_midref(e->limit));
    for (int64_t j = 0; j < row->keys; j++) {
        arb_get_ubound_arf(x, row->s + j, 64);
        if (arf_cmp(x, arb_midref(e->limit)) > 0)
            arf_set(arb_midref(e->limit), x);
    }
    arb_set(e->top, e->limit);
    if (axis_norm_of(in->p)->sink) {
        mag_t size;
        mag_init(size);
        arf_set_d(x, attest_load(in->role[ATTEST_SINK], attest_offset(in->role[ATTEST_SINK], h, 0, 0, 0)));
        if (arf_cmp(x, arb_midref(e->top)) > 0)
            arf_set(arb_midref(e->top), x);
        arf_get_mag(size, x);
        mag_max(w->score_max, w->score_max, size);
        mag_clear(size);
    }
}

/* unit = e^(M + delta), inverse = e^(-M + delta); both at least 1 where the kernel may also not shift. */
static void set_unit(bound_weights *w, const bound_model *m, const exp_job *e, int common)
{
    AUTO_ARB(x);
    AUTO_MAG(grow);
    mag_exp(grow, w->delta_max);
    arb_exp(x, e->top, 64);
    arb_get_mag(w->unit, x);
    arb_neg(x, e->top);
    arb_exp(x, x, 64);
    arb_get_mag(w->inverse, x);
    mag_mul(w->unit, w->unit, grow);
    mag_mul(w->inverse, w->inverse, grow);
    mag_one(grow);
    if (!common) {
        mag_max(w->unit, w->unit, grow);
        mag_max(w->inverse, w->inverse, grow);
        if (mag_cmp(w->unit, m->limit) > 0)
            w->overflow = 1;
    }
}

/* R-MERGE: what one computed lse brings to the exponent in which it stands; `log` is of the size of its logarithm. */
static void lse_error(mag_t y, const mag_t log, const bound_weights *w, const bound_model *m)
{
    AUTO_MAG(x);
    mag_add(y, w->score_max, log);
    mag_mul(y, y, m->u);
    mag_mul_ui(y, y, m->log2_domain ? 12 : 6);
    mag_add_ui(x, log, 1);
    mag_mul(x, x, m->u_log);
    mag_add(y, y, x);
}

/* R-MERGE: exponent error that `logs` computed lse add to every weight of a part. */
static void set_merge(bound_weights *w, const bound_model *m)
{
    AUTO_MAG(error, log);
    mag_log_ui(log, (ulong)w->keys + 1);
    lse_error(error, log, w, m);
    mag_mul_ui(w->merge, error, (ulong)w->logs);
}

/* R-SINK: what the sink's exponent errs by as sink - lse, lse of the keys alone; and how far lse may be from the top
 * score.  Where the sum is not known to be shifted, or may be far below 1, its logarithm is taken. */
static void sink_by_lse(mag_t y, mag_t away, const bound_weights *w, const bound_model *m, const ref_row *row)
{
    AUTO_ARB(x);
    AUTO_MAG(log);
    mag_log_ui(away, (ulong)w->keys + 1);
    mag_set(log, away);
    if (arb_is_positive(row->z)) {
        arb_log(x, row->z, 64);
        arb_get_mag(log, x);
        mag_add(log, log, w->score_max);
        if (m->decays || m->p->axis[ATTEST_AXIS_FILTER].value)
            mag_max(away, away, log);
        if (!m->unknown && m->numerics->schedule != ATTEST_SCHEDULE_DIRECT)
            mag_set(log, away);
    }
    lse_error(y, log, w, m);
}

static void set_fixed(exp_job *e, bound_weights *w, const bound_model *m, int common)
{
    AUTO_MAG(x);
    bound_gamma(e->kappa, m->log2_domain ? 3 : 1, m->u);
    set_merge(w, m);
    mag_set(e->fixed, w->merge);
    if (m->log2_domain) { /* scores times log2(e) before the maximum is taken away; or fma(s, c, -fl(m c)) */
        mag_mul(x, m->u, w->score_max);
        mag_mul_ui(x, x, m->unknown || w->rescales > 0 ? 2 : 1);
        mag_add(e->fixed, e->fixed, x);
        mag_set(e->alone, x);
    }
    if (!common) { /* the shift is undone by e^m, or never made */
        bound_gamma(x, m->log2_domain ? 4 : 2, m->u);
        mag_addmul(e->fixed, x, w->score_max);
    }
    bound_gamma(e->growth, 1 + w->rescales + w->merges + (common ? 0 : 1), m->u_exp);
    bound_gamma(e->own, 1, m->u_exp);
    if (!common) {
        bound_gamma(x, 1, m->u);
        bound_compose(e->growth, e->growth, x);
    }
    mag_mul(e->tiny, m->exp_tiny, w->unit);
    mag_mul_ui(e->tiny, e->tiny, 2);
}

/* relative error of an exponential with |exponent| <= x (R-EXP) */
static void relative(mag_t y, const mag_t x, const exp_job *e, const mag_t fixed, const mag_t growth)
{
    mag_mul(y, x, e->kappa);
    mag_add(y, y, fixed);
    expm1_upper(y, y);
    bound_compose(y, y, growth);
}

/* May e^y, y off by delta_max, be beyond what acc holds? */
static int is_beyond(const arb_t y, const bound_weights *w, const bound_model *m)
{
    AUTO_ARB(limit, high);
    arb_const_log2(limit, 64);
    arb_mul_si(limit, limit, attest_format_of(m->p->acc).emax, 64);
    arb_set(high, y);
    arb_add_error_mag(high, w->delta_max);
    return !arb_lt(high, limit);
}

/* R-SINK: the sink and eps are keys with v = 0. */
static void set_extra(const exp_job *e, bound_weights *w, const bound_model *m, const ref_row *row,
                      const ref_inputs *in, int64_t h)
{
    const attest_problem *p = in->p;
    AUTO_ARB(x, y);
    AUTO_MAG(size, error, fixed, away);
    w->extra_overflows = 0;
    if (axis_norm_of(p)->sink) {
        arb_set_d(x, attest_load(in->role[ATTEST_SINK], attest_offset(in->role[ATTEST_SINK], h, 0, 0, 0)));
        sink_by_lse(fixed, away, w, m, row);
        mag_add(fixed, fixed, e->fixed);
        arb_sub(y, x, e->limit, 64);
        arb_get_mag(size, y);
        mag_add(size, size, away);
        mag_add(size, size, w->delta_max);
        if (m->decays || m->p->axis[ATTEST_AXIS_FILTER].value) /* lse may be far below the maximum */
            arb_add_error_mag(y, away);
        w->extra_overflows = is_beyond(y, w, m);
        relative(error, size, e, fixed, e->growth);
        arb_exp(y, x, 64);
        arb_get_mag(size, y);
        mag_mul(w->extra_error, size, error);
        mag_add(w->extra_error, w->extra_error, e->tiny);
    } else if (axis_norm_of(p)->eps && p->axis[ATTEST_AXIS_EPS].value == ATTEST_EPS_SET && row->keys > 0) {
        arb_set_d(x, p->axis[ATTEST_AXIS_EPS].number);
        arb_log(x, x, 64);
        arb_sub(y, x, e->limit, 64);
        w->extra_overflows = is_beyond(y, w, m);
        bound_gamma(size, 2, m->u);
        relative(error, w->score_max, e, e->fixed, e->growth);
        bound_compose(error, error, size);
        mag_set_d(size, p->axis[ATTEST_AXIS_EPS].number);
        mag_mul(w->extra_error, size, error);
        mag_one(error);
        mag_max(size, size, error);
        mag_addmul(w->extra_error, size, e->tiny);
    }
}

void bound_exp_weights(bound_weights *w, const bound_model *m, const ref_row *row, const ref_inputs *in, int64_t h,
                       int common)
{
    exp_job e;
    AUTO_ARB(x);
    AUTO_MAG(size, score, rest, own);
    job_init(&e);
    set_top(&e, w, row, in, h);
    set_unit(w, m, &e, common);
    set_fixed(&e, w, m, common);
    for (int64_t j = 0; j < row->keys; j++) {
        arb_sub(x, e.top, row->s + j, 64);
        arb_get_mag(size, x);
        mag_add(size, size, w->delta + j);
        mag_add(size, size, w->delta_max); /* |x_j| as the kernel sees it */
        relative(rest, size, &e, e.fixed, e.growth);
        if (m->common)
            relative(own, size, &e, e.alone, e.own);
        expm1_upper(score, w->delta + j);
        mag_mul(w->set[BOUND_SCORE] + j, w->size + j, score);
        mag_add(size, w->size + j, w->set[BOUND_SCORE] + j);
        mag_mul(w->set[BOUND_EXP] + j, size, rest);
        if (m->common) {
            mag_mul(w->set[BOUND_APART] + j, size, own);
            mag_add(w->set[BOUND_APART] + j, w->set[BOUND_APART] + j, e.tiny);
        }
        if (m->decays) { /* set to |D| tiny; never below that without decay */
            mag_one(rest);
            mag_max(rest, rest, row->decay + j);
            mag_addmul(w->set[BOUND_EXP] + j, rest, e.tiny);
        } else {
            mag_add(w->set[BOUND_EXP] + j, w->set[BOUND_EXP] + j, e.tiny);
        }
    }
    mag_set(w->weight_max, w->unit);
    set_extra(&e, w, m, row, in, h);
    job_clear(&e);
}
